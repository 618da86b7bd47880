// Letters of other scripts that look like ASCII letters. Only letters that a reader takes for the other one.

// Each letter is followed by what it looks like.
const PAIRS =
  // Cyrillic, small and capital.
  'аaеeоoрpсcуyхxіiїiјjѕsԁdһhӏlԛqԝwүyвbмmнhтtгrпnкkьbАaВbЕeЅsІiЈjКkМmНhОoРpСcТtУyХxҮyԌgԚqԜwӀlЬb' +
  // Greek.
  'αaεeηnιiκkνvοoρpτtυuχxγyωwϲcϳjΑaΒbΕeΖzΗhΙiΚkΜmΝnΟoΡpΤtΥyΧxϹcͿj' +
  // Armenian.
  'օoսuհhոnցgզqյjղnտsքpՕoՏsՍuԼlԱuՀhԶqՈn' +
  // Cherokee.
  'ᎠdᎡrᎢtᎥiᎩyᎪaᎫjᎬeᎳwᎷmᎻhᎽyᏀgᏂhᏃzᏏbᏒrᏔwᏕsᏙvᏚsᏞlᏟcᏢpᏦkᏧdᏳgᏴb' +
  // Latin letters that are no plain ones: small capitals, open and dotless forms, strokes.
  'ɑaɡgıiȷjɩiʋvʟlᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkᴍmɴnᴏoᴘpꞯqʀrꜱsᴛtᴜuᴠvᴡwʏyᴢzøoØođdłlħhŧtƚlɵoɛeɨi'

/** What a letter looks like, as the code of a small ASCII letter or a digit; 0 if it looks like none. */
export const LOOKS_LIKE: Uint16Array = new Uint16Array(65_536)

for (let code = 48; code < 58; code++) LOOKS_LIKE[code] = code
for (let code = 97; code < 123; code++) LOOKS_LIKE[code] = LOOKS_LIKE[code - 32] = code
for (let i = 0; i < PAIRS.length; i += 2) LOOKS_LIKE[PAIRS.charCodeAt(i)] = PAIRS.charCodeAt(i + 1)
