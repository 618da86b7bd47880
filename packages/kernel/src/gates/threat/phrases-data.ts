// The phrases that the scanner matches. English is complete. Other languages have their most common phrases.

import type { ThreatCode } from './finding.ts'
import type { Weight } from './phrases.ts'
import { TARGET_WORD } from './target.ts'

/** Sets of words that are interchangeable in a phrase. */
export const SETS: Readonly<Record<string, string>> = {
  ignore:
    'ignore disregard forget ignoriere ignoriert ignorieren vergiss vergesst vergessen missachte missachten missachtet ' +
    'ignorez ignorer oublie oubliez oublier ignora ignorad ignoren ignorar olvida olvide olviden olvidar ignorate ' +
    'ignorare dimentica dimenticate dimenticare ignori esqueça esqueçam esquecer desconsidere desconsiderar игнорируй ' +
    'игнорируйте игнорировать проигнорируй проигнорируйте забудь забудьте забыть 忽略 忽视 忽視 无视 無視 忘记 忘掉',
  // Manuals use these for settings and rules.
  override: 'override overrule discard bypass neglect overlook',
  // The verb comes last: German infinitives, and Japanese.
  ignoreLast: 'ignorieren vergessen missachten 無視 忘れ 忘れて 破棄',
  prior:
    'previous previously prior above earlier preceding existing original foregoing former past initial current system ' +
    'vorherigen vorherige vorigen bisherigen bisherige obigen früheren vorangegangenen précédentes précédents précédente ' +
    'précédent antérieures antérieurs anteriores previas previos anterior precedenti precedente prévias предыдущие ' +
    'предыдущих прежние все 之前 以上 先前 上面 此前 前面 以前 これまで 上記 前 今まで 先ほど',
  priorAfter:
    'above earlier previously précédentes précédents précédente antérieures dessus anteriores previas anterior precedenti ' +
    'precedente prévias выше',
  orders:
    'instruction instructions directive directives prompt prompts guideline guidelines programming anweisung anweisungen ' +
    'instruktionen consigne consignes directivas instrucciones instrucción indicaciones istruzioni istruzione instruções ' +
    'instrução diretrizes инструкции инструкций указания указаний 指令 指示 命令',
  instructions:
    'instruction instructions directive directives guidelines programming anweisungen instruktionen consignes ' +
    'instrucciones istruzioni instruções инструкции указания 指令 指示 命令',
  // Not only used for instructions to the reader.
  rules:
    'rule rules guidance command commands constraint constraints restrictions restriction befehle regeln ' +
    'vorgaben règles ordres órdenes reglas regole ordini comandi regras ordens comandos команды правила 说明 規則 规则 ' +
    '提示 要求 ルール',
  every: 'all any every your alle sämtliche toutes tous todas todos tutte tutti deine ihre 所有 すべて 全て',
  follow: 'follow following obey obeying heed',
  new: 'new neue neuen nouvelles nouvelle nuevas nueva nuove nuova novas nova новые новая 新 新的 新しい',
  task: 'task goal mission job',
  is: 'is are follow follows sind sont son sono são',
  machine:
    'ai llm llms chatbot chatbots gpt chatgpt claude gemini copilot ki ia ии 人工智能 机器人 言語モデル',
  helper:
    'assistant assistants agent agents bot bots model models assistent asistente assistente ассистент 助手',
  persona:
    'ai assistant bot chatbot agent model llm dan jailbroken unrestricted unfiltered uncensored hacker evil persona pirate',
  freed: 'jailbroken unrestricted unfiltered uncensored dan evil amoral',
  must: 'must should shall need have will',
  act: 'ignore obey act respond answer behave refuse follow comply',
  call: 'call invoke use run execute send forward fetch visit open transfer delete post email upload trigger',
  invoke: 'call invoke use run execute trigger',
  hand: 'tool tools function functions api endpoint',
  answer: 'answer answering respond responding reply replying summarize summarizing summarise summarising',
  goOn: 'continue continuing proceed proceeding complete completing finish finishing solve solving help',
  tell: 'tell inform mention telling informing mentioning',
  notify: 'notify alert warn show display reveal disclose notifying alerting warning showing revealing',
  user: 'user users human humans operator benutzer nutzer utilisateur usuario usuário utente пользователю 用户 ユーザー',
  negated: 'not dont never',
  print: 'reveal print repeat show output leak display reproduce recite dump disclose share',
  maker: 'system administrator administrators admin developer developers openai anthropic google microsoft',
  output: 'output outputs result results response responses',
  source: 'tool tools function document documents context data input webpage file email',
  send:
    'send sends upload post forward email mail transmit exfiltrate leak transfer submit deliver copy sende senden schicke ' +
    'leite envoie envoyez transmets envía envíe enviar reenvía invia inviate inoltra envie encaminhe отправь отправьте ' +
    'перешли 发送 上传 转发 送信 送って',
  // Data that is not meant for third parties.
  private:
    'password passwords credential credentials secrets secret tokens apikey apikeys keys cookies cookie ssn env inbox ' +
    'transcript contacts',
  privateElsewhere:
    'passwort passwörter zugangsdaten gespräch contraseña contraseñas conversación identifiants senha senhas conversa ' +
    'credenziali conversazione пароль пароли 密码 密钥 对话 パスワード',
  talk: 'conversation chat message messages prompt',

  bulk: 'emails messages files documents records contacts data conversations chats',
  target: `${TARGET_WORD} webhook pastebin ngrok requestbin`,
  encode: 'encode append include embed insert attach put add base64 concatenate',
  talkData:
    'conversation history secret secrets password passwords credentials messages emails prompt transcript',
  into: 'in into as to',
  url: 'url urls link query image parameter',
}

/** Words that give a clue about the word after them. */
export const CLUES: Readonly<Record<'lead' | 'statement' | 'negation' | 'talk', string>> = {
  lead:
    'please must should now then and kindly immediately simply just always instead first also shall assistant ai bitte ' +
    'favor пожалуйста 请 請',
  statement: 'i we they he she it who that which can could may might would will users people models agents',
  negation: 'not dont never cannot cant wont didnt doesnt wouldnt shouldnt nicht ne pas nunca non não не',
  talk:
    'example examples attack attacks attacker attackers injection injections phrase phrases jailbreak jailbreaks ' +
    'malicious payload payloads adversary adversarial eg such called detect detects detection researchers ' +
    'vulnerability injected hijacking hijacked exploit exploits scammers fraudsters criminals beispiel angriff angreifer exemple attaque ejemplo ataque esempio attacco exemplo например атака атаки ' +
    '例如 攻击 攻擊 攻撃 例えば 例 诈骗 骗子 不法分子 冒充 詐欺 詐騙',
}

interface PhraseEntry {
  readonly code: ThreatCode
  readonly weight: Weight
  /** Sets or words. A digit is the maximum number of other words in between. */
  readonly rows: readonly string[]
}

export const PHRASES: readonly PhraseEntry[] = [
  {
    code: 'IGNORE_INSTRUCTIONS',
    weight: 'order',
    rows: [
      'ignore 4 prior 2 orders',
      'ignore 4 orders 3 priorAfter',
      'ignore 4 orders 4 given before',
      'ignore 1 every 2 instructions',
    ],
  },
  {
    code: 'IGNORE_INSTRUCTIONS',
    weight: 'strong',
    rows: ['prior 5 orders 4 ignoreLast', 'ignore 1 above and', 'adhere 1 only 2 following'],
  },
  {
    code: 'IGNORE_INSTRUCTIONS',
    weight: 'strong-order',
    rows: [
      'override 4 prior 2 orders',
      'override 3 orders 3 priorAfter',
      'override 1 every 2 instructions',
      'ignore 4 prior 2 rules',
      'ignore 4 rules 3 priorAfter',
      'ignore 1 your 2 rules',
      'ignore 1 your 1 prior',
      'ignore 1 everything 4 priorAfter',
      'stop follow 2 your 1 orders',
      'do not follow 3 prior 2 orders',
      'dont follow 3 prior 2 orders',
      'pay no attention 4 prior',
    ],
  },
  { code: 'IGNORE_INSTRUCTIONS', weight: 'hint-order', rows: ['ignore 1 above', 'ignore 1 every 2 rules'] },
  {
    code: 'NEW_INSTRUCTIONS',
    weight: 'strong',
    rows: ['your new 1 instructions 1 is', 'your real 1 instructions 1 is'],
  },
  {
    code: 'NEW_INSTRUCTIONS',
    weight: 'strong-order',
    rows: [
      'new 1 instructions :',
      'do 1 following first',
      'do 1 following instead',
      'follow these 1 new 1 instructions',
      'your real 1 task 1 is',
    ],
  },
  { code: 'NEW_INSTRUCTIONS', weight: 'hint-order', rows: ['new 1 instructions', 'your new 1 task 1 is'] },
  {
    code: 'ROLE_CHANGE',
    weight: 'strong',
    rows: [
      'you are now 5 persona',
      'from now on you 1 must 1 act',
      'from now on you are 5 persona',
      'act as 4 freed',
      'pretend 3 you are 4 persona',
      'do anything now',
      'developer mode enabled',
      'god mode enabled',
      'ab sofort bist du',
      'du bist jetzt 5 persona',
      'tu es maintenant 5 helper',
      'ahora eres 5 helper',
      'ora sei 5 helper',
      'agora você é 5 helper',
      'теперь ты 5 helper',
      '你 现在 是',
      '你 現在 是',
      'あなた 1 は 今 から',
    ],
  },
  {
    code: 'ROLE_CHANGE',
    weight: 'hint-order',
    rows: ['you are now', 'pretend you are', 'act as', 'from now on you'],
  },
  {
    code: 'AI_ADDRESSED',
    weight: 'strong',
    rows: [
      'as an machine you must',
      'as an machine helper 1 you must',
      'as an machine language model 1 you must',
      'as a language model 1 you must',
      'if you are an machine helper',
      'if youre an machine helper',
      'if you are an llm',
      'if you are an machine 2 reading',
      'if you are an machine 2 processing',
      'if you are a large language model',
      'if you are a language model',
      'attention 1 machine :',
      'attention 1 machine helper',
      'note to 1 machine :',
      'note to 1 machine helper',
      'message to 1 machine :',
      'message for 1 machine :',
      'instructions for 2 machine :',
      'instructions for 2 machine helper :',
      'dear machine helper',
      'machine helper reading this',
      'helper reading this',
      'important message from me 9 to you',
    ],
  },
  {
    code: 'AI_ADDRESSED',
    weight: 'hint',
    rows: [
      'language model 2 must',
      'if you are 1 an 2 machine',
      'as an helper 1 you must',
      'note to 1 helper :',
      'hey machine',
    ],
  },
  {
    code: 'SECRECY',
    weight: 'strong-order',
    rows: [
      'do not tell 2 user',
      'dont tell 2 user',
      'never tell 2 user',
      'do not inform 2 user',
      'dont inform 2 user',
      'do not mention 5 to 1 user',
      'dont mention 5 to 1 user',
      'never mention 5 to 1 user',
      'do not tell anyone about this',
      'keep this 3 from 1 user',
      'hide this 3 from 1 user',
      'do not let 1 user know',
      'dont let 1 user know',
      'sage 1 dem benutzer nichts',
      'sage 1 dem nutzer nichts',
      'ne 1 dis rien 3 utilisateur',
      'ne dites rien 3 utilisateur',
      'no 2 digas 3 usuario',
      'no 1 informes 2 usuario',
      'não conte 3 usuário',
      'non dire 3 utente',
      'не говори 2 пользователю',
      'не сообщай 2 пользователю',
      '不要 2 告诉 2 用户',
      '不要 2 告訴 2 用戶',
      'ユーザー 3 言わない',
      'ユーザー 3 伝えない',
    ],
  },
  {
    code: 'SECRECY',
    weight: 'hint',
    rows: ['without tell 2 user', 'negated 1 notify 3 user', 'without notify 3 user'],
  },
  {
    code: 'ORDER_BEFORE_TASK',
    weight: 'strong',
    rows: [
      'before 1 you 1 answer 6 invoke 5 hand',
      'before answer 6 invoke 5 hand',
      'before 1 you 1 answer 6 send 9 target',
      'before answer 6 send 9 target',
      'before 1 you 2 solve 2 task',
      'before goOn 3 task 6 invoke 5 hand',
      'before 1 you 2 goOn 3 task 6 invoke 5 hand',
      'before 1 you 1 goOn 6 send 9 target',
      'complete 2 task 2 you must first',
      'after that you can 1 goOn 3 task',
      'bevor du 2 antwortest 8 sende',
    ],
  },
  {
    code: 'ORDER_BEFORE_TASK',
    weight: 'hint-order',
    rows: [
      'before 1 you 1 goOn 6 call',
      'before goOn 6 call',
      'before 1 you 1 answer 6 call',
      'before answer 6 call',
    ],
  },
  {
    code: 'PROMPT_REQUEST',
    weight: 'strong-order',
    rows: [
      'print 2 your 1 system prompt',
      'print 2 your 1 initial 1 orders',
      'print 2 your hidden 1 orders',
      'print everything above',
      'repeat 2 words above',
    ],
  },
  { code: 'PROMPT_REQUEST', weight: 'hint', rows: ['what is your system prompt', 'print 2 system prompt'] },
  {
    code: 'FALSE_AUTHORITY',
    weight: 'strong-order',
    rows: ['system override :', 'admin override :', 'security override :', 'important message from 1 maker'],
  },
  {
    code: 'FALSE_AUTHORITY',
    weight: 'hint-order',
    rows: [
      'message from 2 maker :',
      'system message :',
      'system notice :',
      'system prompt :',
      'system override',
    ],
  },
  {
    code: 'OUTPUT_END',
    weight: 'strong',
    rows: [
      'end of tool output',
      'end of function output',
      'begin system prompt',
      'end of system prompt',
      'end of user input',
      'end of untrusted 1 data',
    ],
  },
  { code: 'OUTPUT_END', weight: 'hint', rows: ['end 1 source output'] },
  {
    code: 'SEND_DATA',
    weight: 'strong-order',
    rows: [
      'send 7 private 1 to 3 target',
      'send 6 api key 1 to 3 target',
      'send 6 private key 1 to 3 target',
      'send 6 talk history 3 to 3 target',
      'send 5 conversation 5 to 3 target',
      'send 5 system prompt 3 to 3 target',
      'send 6 privateElsewhere 5 target',
    ],
  },
  {
    code: 'SEND_DATA',
    weight: 'hint',
    rows: ['send 6 bulk 9 target', 'send 7 private 9 target', 'exfiltrate 9 target'],
  },
  {
    code: 'DATA_IN_URL',
    weight: 'strong-order',
    rows: ['encode 6 talkData 4 into 3 url', 'encode 6 talkData 3 into 3 target'],
  },
]
