// Image URLs in tool results.

const PICTURE = /^data:image\/(?:png|jpe?g|gif|webp|avif|bmp|tiff?|hei[cf]);base64,/i
const HEAD_LENGTH = 64
const NO_BASE64 = /[^A-Za-z0-9+/_=-]/

/** Whether a URL is an inline image without readable text. */
export function isPicture(url: string): boolean {
  const [head] = PICTURE.exec(url.slice(0, HEAD_LENGTH)) ?? []
  return head !== undefined && !NO_BASE64.test(url.slice(head.length))
}

/** Whether a URL is a link. */
export function isLink(url: string): boolean {
  return /^https?:\/\//i.test(url)
}
