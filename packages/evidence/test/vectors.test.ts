import { describe, expect, it } from 'vitest'
import { FINDINGS, parseTrust, verifyPack, type FindingCode, type Report } from '../src/index.ts'
import { EXITS, findingsOf, readPackCases, type PackCase } from './case.ts'

const cases = readPackCases()

async function verify({ pack, trust }: PackCase): Promise<Report> {
  return verifyPack(pack, trust === undefined ? {} : { trust: await parseTrust(trust) })
}

describe('every pack case has the expected report', () => {
  it.each(cases)('$name', async (given) => {
    const report = await verify(given)
    expect(findingsOf(report)).toEqual(given.findings)
    expect(report.level).toBe(given.expect)
    expect(report.exit).toBe(EXITS[given.expect])
    expect(report.more_findings).toBe(0)
  })
})

describe('the collection', () => {
  const failing = cases.filter(({ expect: level }) => level === 'failed' || level === 'malformed')

  it('has at least 75 cases, of which at least 58 must fail', () => {
    expect(cases.length).toBeGreaterThanOrEqual(75)
    expect(failing.length).toBeGreaterThanOrEqual(58)
  })

  it('covers every finding', () => {
    const reached = new Set(cases.flatMap(({ findings }) => findings.map((line) => line.split(' ')[0])))
    // A pack with a hundred thousand references is too large to store; `audit.test.ts` covers it.
    const large: FindingCode[] = ['REFERENCES_TOO_MANY']
    const codes = Object.keys(FINDINGS) as FindingCode[]
    expect(codes.filter((code) => !reached.has(code))).toEqual(large)
  })

  it('names cases in lower case with dashes', () => {
    expect(cases.filter(({ name }) => !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name))).toEqual([])
  })

  it('has a different description for each case', () => {
    expect(new Set(cases.map(({ about }) => about)).size).toBe(cases.length)
  })

  it('expects findings exactly for the packs that must fail', () => {
    const withFindings = cases.filter(({ findings }) => findings.length > 0)
    expect(withFindings).toEqual(failing)
  })

  it('keeps every file small', () => {
    expect(cases.filter(({ pack }) => pack.length > 24 * 1024).map(({ name }) => name)).toEqual([])
  })
})
