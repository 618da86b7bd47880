// The verbs of orders in twelve languages, so that an order can be said again from its parts.

import type { Goal } from './types.ts'

/** The verbs that the tables know; `do` stands for all the others. */
export type Verb =
  | 'send'
  | 'transfer'
  | 'pay'
  | 'invite'
  | 'post'
  | 'visit'
  | 'book'
  | 'create'
  | 'change'
  | 'delete'
  | 'share'
  | 'reveal'
  | 'add'
  | 'message'
  | 'do'

/** How a language says each of them to somebody. */
export type Imperatives = Readonly<Record<Verb, string>>

const SAME: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['send', 'send'],
  ['email', 'send'],
  ['forward', 'send'],
  ['mail', 'send'],
  ['transfer', 'transfer'],
  ['wire', 'transfer'],
  ['pay', 'pay'],
  ['invite', 'invite'],
  ['post', 'post'],
  ['publish', 'post'],
  ['visit', 'visit'],
  ['open', 'visit'],
  ['click', 'visit'],
  ['download', 'visit'],
  ['book', 'book'],
  ['reserve', 'book'],
  ['create', 'create'],
  ['make', 'create'],
  ['schedule', 'create'],
  ['change', 'change'],
  ['update', 'change'],
  ['set', 'change'],
  ['delete', 'delete'],
  ['remove', 'delete'],
  ['cancel', 'delete'],
  ['share', 'share'],
  ['reveal', 'reveal'],
  ['tell', 'reveal'],
  ['say', 'reveal'],
  ['add', 'add'],
  ['message', 'message'],
  ['write', 'message'],
])

/** The order in another language: its verb, as that language says it. */
export function verbIn(imperatives: Imperatives, { verb }: Goal): string {
  return imperatives[SAME.get(verb.trim().toLowerCase().split(/\s/)[0] ?? '') ?? 'do']
}

type Row = readonly [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
]

function table(row: Row): Imperatives {
  const [
    send,
    transfer,
    pay,
    invite,
    post,
    visit,
    book,
    create,
    change,
    remove,
    share,
    reveal,
    add,
    message,
    other,
  ] = row
  return {
    send,
    transfer,
    pay,
    invite,
    post,
    visit,
    book,
    create,
    change,
    delete: remove,
    share,
    reveal,
    add,
    message,
    do: other,
  }
}

/** Verbs in German. */
// oxfmt-ignore
export const GERMAN: Imperatives = table(['sende', 'überweise', 'bezahle', 'lade ein', 'veröffentliche', 'öffne', 'buche', 'erstelle', 'ändere', 'lösche', 'teile', 'nenne', 'ergänze', 'schreibe', 'erledige'])
/** Verbs in French. */
// oxfmt-ignore
export const FRENCH: Imperatives = table(['envoyez', 'virez', 'payez', 'invitez', 'publiez', 'ouvrez', 'réservez', 'créez', 'modifiez', 'supprimez', 'partagez', 'communiquez', 'ajoutez', 'écrivez', 'exécutez'])
/** Verbs in Spanish. */
// oxfmt-ignore
export const SPANISH: Imperatives = table(['envía', 'transfiere', 'paga', 'invita', 'publica', 'abre', 'reserva', 'crea', 'cambia', 'borra', 'comparte', 'revela', 'añade', 'escribe', 'ejecuta'])
/** Verbs in Italian. */
// oxfmt-ignore
export const ITALIAN: Imperatives = table(['invia', 'bonifica', 'paga', 'invita', 'pubblica', 'apri', 'prenota', 'crea', 'modifica', 'cancella', 'condividi', 'comunica', 'aggiungi', 'scrivi', 'esegui'])
/** Verbs in Portuguese. */
// oxfmt-ignore
export const PORTUGUESE: Imperatives = table(['envie', 'transfira', 'pague', 'convide', 'publique', 'abra', 'reserve', 'crie', 'altere', 'apague', 'partilhe', 'revele', 'adicione', 'escreva', 'execute'])
/** Verbs in Polish. */
// oxfmt-ignore
export const POLISH: Imperatives = table(['wyślij', 'przelej', 'zapłać', 'zaproś', 'opublikuj', 'otwórz', 'zarezerwuj', 'utwórz', 'zmień', 'usuń', 'udostępnij', 'ujawnij', 'dodaj', 'napisz', 'wykonaj'])
/** Verbs in Turkish. */
// oxfmt-ignore
export const TURKISH: Imperatives = table(['gönder', 'havale et', 'öde', 'davet et', 'yayınla', 'aç', 'rezerve et', 'oluştur', 'değiştir', 'sil', 'paylaş', 'bildir', 'ekle', 'yaz', 'yerine getir'])
/** Verbs in Russian. */
// oxfmt-ignore
export const RUSSIAN: Imperatives = table(['отправь', 'переведи', 'оплати', 'пригласи', 'опубликуй', 'открой', 'забронируй', 'создай', 'измени', 'удали', 'поделись', 'сообщи', 'добавь', 'напиши', 'выполни'])
/** Verbs in Chinese. */
// oxfmt-ignore
export const CHINESE: Imperatives = table(['发送', '转账', '付款', '邀请', '发布', '打开', '预订', '创建', '修改', '删除', '共享', '告知', '添加', '发消息', '执行'])
/** Verbs in Japanese. */
// oxfmt-ignore
export const JAPANESE: Imperatives = table(['送信して', '送金して', '支払って', '招待して', '投稿して', '開いて', '予約して', '作成して', '変更して', '削除して', '共有して', '知らせて', '追加して', '連絡して', '実行して'])
/** Verbs in Arabic. */
// oxfmt-ignore
export const ARABIC: Imperatives = table(['أرسل', 'حوّل', 'ادفع', 'ادعُ', 'انشر', 'افتح', 'احجز', 'أنشئ', 'غيّر', 'احذف', 'شارك', 'أفصح عن', 'أضف', 'اكتب إلى', 'نفّذ'])
/** Verbs in Hindi. */
// oxfmt-ignore
export const HINDI: Imperatives = table(['भेजें', 'ट्रांसफ़र करें', 'भुगतान करें', 'आमंत्रित करें', 'पोस्ट करें', 'खोलें', 'बुक करें', 'बनाएँ', 'बदलें', 'हटाएँ', 'साझा करें', 'बताएँ', 'जोड़ें', 'संदेश भेजें', 'पूरा करें'])
