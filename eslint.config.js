import tseslint from 'typescript-eslint'

/** Rooms in the order of the design's table; a room imports only the ones listed for it, by their door. */
const ambient = [
  { object: 'Date', property: 'now', message: 'Take the time from a Clock (runtime).' },
  { object: 'performance', property: 'now', message: 'Take the time from a Clock (runtime).' },
  { object: 'process', property: 'hrtime', message: 'Take the time from a Clock (runtime).' },
  { object: 'process', property: 'env', message: 'The environment is read in cli/ and handed down.' },
  { object: 'Math', property: 'random', message: 'Take randomness from a Random (runtime).' },
  { object: 'AbortSignal', property: 'timeout', message: 'Use clock.sleep and an AbortController (runtime).' },
  ...[
    'randomBytes',
    'randomUUID',
    'randomInt',
    'randomFill',
    'randomFillSync',
    'getRandomValues',
    'pseudoRandomBytes',
  ].map((property) => ({ property, message: 'Take randomness from a Random (runtime).' })),
]
const ambientGlobals = ['setTimeout', 'setInterval'].map((name) => ({
  name,
  message: 'Use clock.sleep (runtime).',
}))
const ambientModules = {
  paths: [
    { name: 'node:timers/promises', message: 'Use clock.sleep (runtime).' },
    { name: 'timers/promises', message: 'Use clock.sleep (runtime).' },
    ...['node:crypto', 'crypto'].map((name) => ({
      name,
      importNames: [
        'randomBytes',
        'randomUUID',
        'randomInt',
        'randomFill',
        'randomFillSync',
        'getRandomValues',
        'webcrypto',
      ],
      message: 'Take randomness from a Random (runtime).',
    })),
    ...['node:perf_hooks', 'perf_hooks'].map((name) => ({ name, message: 'Take the time from a Clock (runtime).' })),
  ],
  patterns: [
    {
      // Another room is imported by its door only.
      regex: '^(\\.\\./)+(runtime|bytes|wire|ignition|steps|machine|agent|ironic-mock|lab|cli)/(?!index\\.js$)',
      message: 'Import another room by its door, index.js.',
    },
  ],
}

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'test/fixtures/'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts'],
    languageOptions: {
      parserOptions: { project: ['tsconfig.tests.json', '*/tsconfig.json'], tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
    },
  },
  {
    files: ['**/*.ts'],
    rules: {
      'no-restricted-properties': ['error', ...ambient],
      'no-restricted-globals': ['error', ...ambientGlobals],
      'no-restricted-imports': ['error', ambientModules],
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'Take the time from a Clock (runtime): new Date(clock.now()).',
        },
      ],
    },
  },
  {
    // The adapters: the one place where each ambient thing is touched.
    files: ['runtime/system-*.ts', 'cli/environment.ts'],
    rules: {
      'no-restricted-properties': 'off',
      'no-restricted-globals': 'off',
      'no-restricted-syntax': 'off',
      'no-restricted-imports': 'off',
    },
  },
  {
    // Tests that cross rooms may wait for real processes; unit tests may look behind their own room's door only.
    files: ['test/**/*.ts', '**/*.test.ts'],
    rules: {
      'no-restricted-properties': 'off',
      'no-restricted-globals': 'off',
      'no-restricted-syntax': 'off',
      'no-restricted-imports': 'off',
      'no-console': 'off',
    },
  },
)
