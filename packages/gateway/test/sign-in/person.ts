// A person with a browser at the pages of the provider: signs in, and consents.

/** The address of clients, to which the provider sends the person back. */
export const CALLBACK = 'http://127.0.0.1:1/callback'

const MAX_PAGES = 20

/** Follows the pages from the first one, and returns the code for the client. */
export async function signInAt(page: URL, name: string): Promise<string> {
  const cookies = new Map<string, string>()
  let next: Request | string = new Request(page, { redirect: 'manual' })
  for (let i = 0; i < MAX_PAGES && typeof next !== 'string'; i++) next = await step(next, name, cookies)
  if (typeof next === 'string') return next
  throw new Error('the provider did not send the person back')
}

/** Sends a request. Returns the next one, or the code. */
async function step(request: Request, name: string, cookies: Map<string, string>): Promise<Request | string> {
  const { url } = request
  request.headers.set('cookie', [...cookies].map((pair) => pair.join('=')).join('; '))
  const response = await fetch(request)
  for (const cookie of response.headers.getSetCookie()) {
    const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
    cookies.set(key, value)
  }
  const location = response.headers.get('location')
  if (location === null) return formOf(await response.text(), url, name)
  const target = new URL(location, url)
  const code = target.searchParams.get('code')
  return code ?? new Request(target, { redirect: 'manual' })
}

function formOf(html: string, url: string, login: string): Request {
  const [, prompt] = /name="prompt" value="(\w+)"/.exec(html) ?? []
  const [, action] = /<form[^>]*action="([^"]+)"/.exec(html) ?? []
  if (prompt === undefined || action === undefined) throw new Error(`no form on ${new URL(url).pathname}`)
  const body = new URLSearchParams({ prompt, login, password: 'any' })
  return new Request(new URL(action, url), { method: 'POST', body, redirect: 'manual' })
}
