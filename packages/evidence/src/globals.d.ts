// The only globals of the runtime that this package may use. Others do not compile.

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
