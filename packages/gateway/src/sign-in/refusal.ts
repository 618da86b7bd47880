// Why an access token is not accepted.

/** A refused access token. The message is for its sender, and contains nothing of the token. */
export class SignInRefusal extends Error {
  /** `invalid`: the token itself is wrong. `unavailable`: the gateway cannot check any token now. */
  readonly kind: 'invalid' | 'unavailable'

  constructor(kind: SignInRefusal['kind'], message: string) {
    super(message)
    this.name = 'SignInRefusal'
    this.kind = kind
  }
}

/** The refusal of a token that is wrong. */
export function invalid(message: string): SignInRefusal {
  return new SignInRefusal('invalid', message)
}
