// The platform features that this package uses. Code that uses any other does not compile.

interface TextEncoder {
  encode(text: string): Uint8Array
}
declare const TextEncoder: new () => TextEncoder

interface TextDecoder {
  decode(bytes: Uint8Array): string
}
declare const TextDecoder: new (
  label: 'utf-8',
  options: { readonly fatal: true; readonly ignoreBOM: true },
) => TextDecoder
