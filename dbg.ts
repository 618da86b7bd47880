import { openScanTab } from '/work/wt/sentinel/packages/sentinel/test/page.ts'
const tab = await openScanTab('/usr/bin/chromium')
const r = await tab.scan(process.argv[2]!)
console.log(JSON.stringify(r,null,1))
if (process.argv[3]) console.log(await tab.run(process.argv[3]))
await tab.close()
