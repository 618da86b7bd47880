// Decides by its form whether a dotted word in a text is a hostname.

import { parseIpv6 } from './address.ts'
import { fold, isBeyondAscii } from './host.ts'

// Top-level domains of three letters and more: common ones, often abused ones, and names for private and special use. All
// two-letter and `xn--` domains count too.
const TOP_LEVEL: ReadonlySet<string> = words(`
  com net org edu gov mil int arpa info biz name pro mobi tel asia cat jobs travel aero coop
  app dev page cloud online site website web space store shop tech technology host hosting press blog news media
  club live life world today fun games game play video photo photos pics pictures gallery graphics zip mov
  xyz top icu vip win bid loan date download stream trade racing review reviews science party accountant cricket
  faith men work works click link buzz monster rest cam beauty hair skin makeup quest sbs cfd cyou bond lol mom kim
  gdn ninja guru expert agency company business solutions services support systems network email chat social
  community center zone digital software computer codes engineering consulting finance financial bank money cash
  credit capital fund exchange market markets marketing trading academy education school university college institute
  training foundation health care clinic house homes property estate land rent build tools design studio art fashion
  style gift gifts toys food pizza restaurant cafe coffee wine beer pub cars auto car bike taxi hotel tours
  city london nyc paris berlin tokyo amsterdam wien africa swiss scot bayern hamburg koeln
  group team partners ventures holdings international global legal law one ooo plus red blue green black pink best
  cool cheap sale deals promo run direct express delivery supply parts energy solar eco bio farm garden
  fan fans band music audio radio film movie show tube watch sport football golf love dating adult porn sex sexy xxx
  casino poker bet earth domains wiki report security llc ltd inc gmbh aws amazon google apple microsoft
  test example invalid localhost local internal intranet private corp lan home localdomain onion i2p alt`)

// Internationalised top-level domains. Other non-ASCII labels do not count, because a dot can also end a sentence.
const TOP_LEVEL_IDN: ReadonlySet<string> = words(`
  рф укр бел срб мкд қаз бг ею мон онлайн сайт дети москва орг ком рус ελ ευ հայ გე ישראל קום
  مصر ایران امارات السعودية الاردن المغرب الجزائر تونس عمان قطر سورية سودان فلسطين پاکستان شبكة موقع بازار كوم
  भारत संगठन कॉम नेट ไทย คอม 中国 中國 香港 台湾 台灣 新加坡 澳門 公司 网络 網絡 网址 网站 在线 中文网 集团 公益 商城 商店 手机 移动
  信息 我爱你 娱乐 游戏 购物 政务 机构 みんな コム ネット クラウド セール ストア 한국 닷컴 닷넷`)

// Top-level domains that are far more often file extensions.
const FILE_ENDING: ReadonlySet<string> = words(
  'bz cc cs db fs go gz hs jl js kt md mk ml mm mo mov pl pm po ps py rb rs sh so sv tf ts vb xz zip',
)

// Two-letter domains that are common words in code: `order.id/2` is a division.
const CODE_WORD: ReadonlySet<string> = words('id to is in no it at by my be am re st th tr')

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ''))
}

/**
 * Classifies a dotted name: `host` by its top-level domain, `file` if the domain is also a file extension, `code` if it is also a
 * word in code, `none` if the domain is unknown.
 */
export function lookOf(name: string): 'host' | 'file' | 'code' | 'none' {
  const folded = (isBeyondAscii(name) ? fold(name) : name).toLowerCase()
  const bare = folded.endsWith('.') ? folded.slice(0, -1) : folded
  if (!bare.includes('.')) return bare === 'localhost' ? 'host' : 'none'
  const labels = bare.split('.')
  const top = labels.at(-1) ?? ''
  if (labels.includes('') || !isTopLevel(top)) return 'none'
  if (FILE_ENDING.has(top)) return 'file'
  return CODE_WORD.has(top) ? 'code' : 'host'
}

function isTopLevel(label: string): boolean {
  return /^[a-z]{2}$|^xn--/.test(label) || TOP_LEVEL.has(label) || TOP_LEVEL_IDN.has(label)
}

/** Returns whether it is four numbers with dots, in any base that a resolver accepts. */
export function isQuad(name: string): boolean {
  return isDottedNumber(name, 4)
}

function isDottedNumber(name: string, parts: number): boolean {
  if (name.length > 64 || !/^[0-9]/.test(name)) return false
  const labels = (name.endsWith('.') ? name.slice(0, -1) : name).split('.')
  return labels.length === parts && labels.every((label) => /^(?:0x[0-9a-f]+|[0-9]+)$/i.test(label))
}

/** Returns the part before the path, the query or the fragment. */
export function hostPart(word: string): string {
  return word.slice(0, (word + '/').search(/[/\\?#]/))
}

/**
 * Returns whether a single word is a host: a name with a known top-level domain or an address, possibly with a port or a path.
 */
export function isBareHost(word: string): boolean {
  const host = hostPart(word)
  if (isIpv6Literal(host)) return true
  const [name = '', port, ...others] = host.split(':')
  if (others.length > 0 || /[^\w.\-\u0080-\uffff]/.test(name)) return false
  if (isQuad(name)) return true
  // `127.1` is usually a number. With a port, or in hexadecimal, it is an address.
  const isShort = isDottedNumber(name, 2) || isDottedNumber(name, 3)
  if (isShort) return port !== undefined || /0x/i.test(name)
  const look = lookOf(name)
  return look === 'file' ? port !== undefined || host.length < word.length : look !== 'none'
}

function isIpv6Literal(text: string): boolean {
  const literal = /^\[([^\]]*)\](?::[0-9]*)?$/.exec(text)?.[1] ?? text
  const zone = literal.indexOf('%')
  return parseIpv6(zone < 0 ? literal : literal.slice(0, zone)) !== undefined
}
