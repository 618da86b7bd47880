// The policy that the suite activates. Each requirement uses tools of its own, so that all of them share one gateway.

const TEXT = { type: 'object', required: ['text'], properties: { text: { type: 'string' } } }

const local = (effect: string): object => ({ effect, destinations: 'none' })

/** The policy, as JSON, which is YAML. */
export const POLICY: string = JSON.stringify({
  tollgate: 1,
  name: 'conformance',
  principals: { 'agent:*': { tier: 'standard' } },
  tools: {
    'note/read': { ...local('read'), schema: TEXT },
    'note/any': local('read'),
    'note/unruled': local('read'),
    'note/condition': local('read'),
    'order/read': local('read'),
    'order/write': local('write'),
    'ask/write': local('write'),
    'ask/soon': local('write'),
    'ask/group': local('write'),
    'rate/call': local('read'),
    'vault/get': { effect: 'read', returns: ['secret'] },
    'http/post': { effect: 'send', destinations: ['url'] },
    'web/click': { effect: 'write', browser: true },
    'own/read': local('read'),
    'own/leak': local('read'),
    'own/ask': local('write'),
    'own/forbidden': local('write'),
    'own/late': local('read'),
    'builtin/*': local('execute'),
  },
  rules: [
    { id: 'first', allow: 'order/read' },
    { id: 'closed', deny: 'order/*' },
    { id: 'never', allow: 'order/write' },
    { id: 'condition', allow: 'note/condition', when: 'args.name.startsWith("a")' },
    { id: 'forbidden', deny: 'own/forbidden' },
    { id: 'soon', require: 'ask/soon', expires: '1s' },
    { id: 'group', require: 'ask/group', approvers: ['judges'] },
    { id: 'ask', require: ['ask/*', 'own/ask'] },
    { id: 'open', allow: ['note/read', 'note/any', 'rate/*', 'vault/*', 'http/*', 'web/*', 'own/*'] },
  ],
  gates: {
    browser: { domains: ['example.com'] },
    egress: { allow: ['example.com', 'partner.example'] },
    taint: { deny: ['secret'], internal: ['example.com'], results: { secret: 'redact' } },
    threat: {},
    temporal: { rate: { 'rate/*': '5/h' } },
    'session-risk': { threshold: 0.38, window: 8 },
  },
})
