// The one layout of policy files, as data: the order of keys, and which texts stand in quotes.

import { EFFECT_CLASSES } from '@tollgate/evidence'

/** How one part of a policy file is laid out. */
export interface Layout {
  /** The order of its keys. Where there is none, order is meaning or taste, and stays. */
  readonly order?: readonly string[]
  /** Its keys are names of tools or principals, which stand in quotes. */
  readonly names?: boolean
  /** Its texts are names or conditions, which stand in quotes. */
  readonly quoted?: boolean
  /** It is somebody else's format and stays as it is written. */
  readonly foreign?: boolean
  readonly members?: Readonly<Record<string, Layout>>
  /** The layout of every member or item that is not among `members`. */
  readonly each?: Layout
}

const QUOTED: Layout = { quoted: true }
const ANSWERS: Layout = { order: ['high', 'medium', 'low'] }
const BY_EFFECT: Layout = { order: EFFECT_CLASSES }
const SCOPES: Layout = { order: ['principal', 'session', 'tool', 'tenant'] }

const TOOL: Layout = {
  order: ['effect', 'sinks', 'destinations', 'returns', 'takes', 'cost', 'commit', 'browser', 'schema'],
  members: { schema: { foreign: true } },
}

const RULE: Layout = {
  order: [
    'id',
    'allow',
    'deny',
    'require',
    'principal',
    'session',
    'door',
    'when',
    'because',
    'approvers',
    'expires',
  ],
  members: {
    allow: QUOTED,
    deny: QUOTED,
    require: QUOTED,
    principal: QUOTED,
    session: QUOTED,
    when: QUOTED,
  },
}

const GATES: Layout = {
  order: [
    'browser',
    'egress',
    'taint',
    'threat',
    'session-risk',
    'trust',
    'privilege',
    'scope',
    'temporal',
    'compliance',
  ],
  members: {
    browser: {
      order: ['domains', 'max-sentinel-risk', 'observation', 'findings'],
    },
    egress: { order: ['allow', 'ask', 'deny'] },
    taint: {
      order: ['deny', 'ask', 'internal', 'follow', 'provenance', 'results'],
      members: { provenance: { order: ['untrusted', 'ordered', 'flagged'] } },
    },
    threat: { order: ['arguments', 'results', 'sources'], each: ANSWERS },
    'session-risk': { order: ['ask', 'threshold', 'window', 'baseline', 'half-life', 'carry'] },
    trust: {
      order: ['half-life', 'deltas', 'needs'],
      members: {
        deltas: { order: ['completed', 'approved', 'failed', 'unknown', 'denied', 'refused', 'hostile'] },
        needs: BY_EFFECT,
      },
    },
    privilege: {
      order: ['needs', 'elevation'],
      members: { needs: BY_EFFECT, elevation: { order: ['up-to', 'for'] } },
    },
    scope: { order: ['required'] },
    temporal: {
      order: ['rate', 'budget', 'hours', 'burst'],
      members: {
        rate: { names: true, each: SCOPES },
        budget: { order: ['calls', 'cost'], each: SCOPES },
        hours: { names: true, each: QUOTED },
        burst: { order: ['ask', 'deny'] },
      },
    },
    compliance: {
      order: ['jurisdictions', 'rules'],
      members: {
        rules: {
          each: {
            order: ['id', 'labels', 'tools', 'effects', 'inside', 'outside', 'then', 'because'],
            members: { tools: QUOTED },
          },
        },
      },
    },
  },
}

/** The layout of a policy file. */
export const POLICY_LAYOUT: Layout = {
  order: ['tollgate', 'name', 'context', 'principals', 'tools', 'rules', 'approvals', 'gates'],
  members: {
    context: { order: ['environments', 'tenants', 'workspaces'] },
    principals: { names: true, each: { order: ['tier', 'key', 'delegate-only'] } },
    tools: { names: true, each: TOOL },
    rules: { each: RULE },
    approvals: { order: ['reason'] },
    gates: GATES,
  },
}
