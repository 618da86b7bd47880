// Letters of other scripts that readers mistake for ASCII letters.

// Pairs of a letter and the ASCII letter that it resembles.
const PAIRS =
  // Cyrillic, lower case and upper case.
  'аaеeоoрpсcуyхxіiїiјjѕsԁdһhӏlԛqԝwүyвbмmнhтtгrпnкkьbАaВbЕeЅsІiЈjКkМmНhОoРpСcТtУyХxҮyԌgԚqԜwӀlЬb' +
  // Greek.
  'αaεeηnιiκkνvοoρpτtυuχxγyωwϲcϳjΑaΒbΕeΖzΗhΙiΚkΜmΝnΟoΡpΤtΥyΧxϹcͿj' +
  // Armenian.
  'օoսuհhոnցgզqյjղnտsքpՕoՏsՍuԼlԱuՀhԶqՈn' +
  // Cherokee.
  'ᎠdᎡrᎢtᎥiᎩyᎪaᎫjᎬeᎳwᎷmᎻhᎽyᏀgᏂhᏃzᏏbᏒrᏔwᏕsᏙvᏚsᏞlᏟcᏢpᏦkᏧdᏳgᏴb' +
  // Latin letters that are not plain: small capitals, open and dotless forms, strokes.
  'ɑaɡgıiȷjɩiʋvʟlᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkᴍmɴnᴏoᴘpꞯqʀrꜱsᴛtᴜuᴠvᴡwʏyᴢzøoØođdłlħhŧtƚlɵoɛeɨi'

/** Maps a letter to the code of the lower case ASCII letter or digit that it resembles; 0 if there is none. */
export const LOOKS_LIKE: Uint16Array = new Uint16Array(65_536)

for (let code = 48; code < 58; code++) LOOKS_LIKE[code] = code
for (let code = 97; code < 123; code++) LOOKS_LIKE[code] = LOOKS_LIKE[code - 32] = code
for (let i = 0; i < PAIRS.length; i += 2) LOOKS_LIKE[PAIRS.charCodeAt(i)] = PAIRS.charCodeAt(i + 1)
