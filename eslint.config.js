// Typed rules first: a dropped promise is a fail-open, a switch that misses a case is a missing verdict.
import tseslint from 'typescript-eslint'

const NAMED_EXPORTS = [
  { selector: 'ExportDefaultDeclaration', message: 'named exports only' },
  { selector: 'ExportAllDeclaration', message: 'named exports only: a new export is public API' },
]

export default tseslint.config(
  { ignores: ['**/dist/**', 'vectors/**', '.cache/**'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      'no-restricted-syntax': ['error', ...NAMED_EXPORTS],
      // An assertion that gives its reason in a comment says more than `!`.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      // Exported names are annotated, also where it could be inferred: isolated declarations need it.
      '@typescript-eslint/no-inferrable-types': 'off',
      eqeqeq: 'error',
    },
  },
  {
    files: ['packages/*/src/**/*.ts'],
    rules: { 'no-restricted-globals': ['error', 'console'] },
  },
  {
    files: ['packages/evidence/src/**/*.ts', 'packages/kernel/src/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', 'fetch', 'setTimeout', 'process', 'console'],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'no randomness here' },
        { object: 'Date', property: 'now', message: 'no clock here: time is handed in' },
      ],
      'no-restricted-syntax': [
        'error',
        ...NAMED_EXPORTS,
        {
          selector: 'NewExpression[callee.name="Date"][arguments.length=0]',
          message: 'no clock here: time is handed in',
        },
        { selector: 'CallExpression[callee.name="Date"]', message: 'no clock here: time is handed in' },
      ],
    },
  },
  // On the roads of calls, `fetch` costs more than the call itself: there it is undici.
  {
    files: ['packages/gateway/src/{mcp,llm,hook,store}/**/*.ts'],
    rules: { 'no-restricted-globals': ['error', 'fetch', 'console'] },
  },
  { files: ['*.config.ts'], rules: { 'no-restricted-syntax': 'off' } },
)
