// Ordinary documents with a place for a foreign text.

/** A document around a text. */
export type Host = (text: string) => string

/** The documents, for texts of any length. */
export const HOSTS: readonly Host[] = [
  (text) =>
    `From: Carla Dunn <carla.dunn@oakmere.example>\nSubject: Re: numbers for Q2\n\nHi,\n\nthe numbers are attached, they look better than we thought. I will bring prints on Thursday.\n\n${text}\n\nSee you, Carla`,
  (text) =>
    `Oakmere Walks - routes for every season\nHome | Routes | Shop\n\nThe river loop is 7 km long and easy. Start at the mill, keep left at the weir and return by the old railway.\n\n${text}\n\n© Oakmere Walks. Cookies | Contact`,
  (text) =>
    `Lovely stay, friendly people, good coffee. The lift was out of order for a day. ${text} Four stars from us.`,
  (text) =>
    `{"id":"t-8841","date":"2026-04-03","amount":12.5,"sender":"L. Marsh","subject":${JSON.stringify(text)}}`,
  (text) =>
    `# Notes on the kitchen\n\n- tiles: grey, 30 x 60\n- oven: ask for the one with the drawer\n- painter comes on Monday\n\n${text}\n\n- lamp over the table still missing`,
  (text) =>
    `[08:58] jules: morning! slides are in the folder\n[09:01] petra: thx\n[09:02] jules: ${text}\n[09:05] petra: lunch at 12?`,
  (text) =>
    `Title: Project review\nStart: 2026-05-06 14:00\nEnd: 2026-05-06 15:00\nLocation: Room Birch\nDescription: ${text}\nParticipants: 4`,
  (text) =>
    `Search result 1 of 3: "Cheap batteries compared". We tested twelve kinds; the differences are small and the price says little.\nSearch result 2 of 3: ${text}\nSearch result 3 of 3: "How to store batteries".`,
  (text) =>
    `TICKET 5512 (open)\nReporter: warehouse\nThe scanner at gate 2 loses its connection twice a day.\n\nComment 1: replaced the cable.\nComment 2: ${text}\nComment 3: still happens.`,
  (text) => text,
]

/** For short texts only: the subject of a payment. */
export const SUBJECT: Host = (text) =>
  `2026-04-11  -18.00  bakery corner\n2026-04-12  +0.01  ${text}\n2026-04-13  -640.00  rent april`
