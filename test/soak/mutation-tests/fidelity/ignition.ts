import { fidelityMutants } from './fidelity-mutant.js'

const FILES = { file: 'coreos/agent/agent-files.ts' }
const URLS = { file: 'coreos/agent/service-urls.ts' }

/** Rows of Ignition configs. */
export const IGNITION_MUTANTS = fidelityMutants('ignition', [
  {
    row: 'Any number of findings',
    does: 'takes any number',
    file: 'ignition/findings.ts',
    from: 'const MAX_FINDINGS = 10_000',
    to: 'const MAX_FINDINGS = 10_000_000',
  },
  {
    row: 'An experimental version is accepted like others',
    does: 'says nothing',
    file: 'steps/install-coreos/check-ignition.ts',
    from: 'if (own.version !== null && isExperimental(own.version))',
    to: 'if (own.version === null && isExperimental(own.version!))',
  },
  {
    row: 'Raising 3.4.0 to 3.5.0 loses',
    does: 'loses it',
    file: 'ignition/translate.ts',
    from: '{ asIgnitionDoes = false }: TranslateOptions = {}',
    to: '{ asIgnitionDoes = true }: TranslateOptions = {}',
  },
  {
    row: 'There is no translation to an older version',
    does: 'loses what it has no place for',
    file: 'ignition/translate.ts',
    from: "  if (lost.length > 0)\n    throw new UserError('ignition-loss'",
    to: "  if (lost.length > 999)\n    throw new UserError('ignition-loss'",
  },
  {
    row: 'Circular references are followed',
    does: 'follows them, up to the limit of all references',
    file: 'ignition/render-config.ts',
    from: 'if (ancestors.includes(source))',
    to: 'if (ancestors.length > MAX_RENDERED_CONFIGS)',
  },
  {
    row: 'A reference may decompress to any size',
    does: 'takes more',
    file: 'ignition/resource-bytes.ts',
    from: 'gunzipSync(bytes, { maxOutputLength: MAX_RESOURCE_BYTES })',
    to: 'gunzipSync(bytes)',
  },
  {
    ...FILES,
    row: 'It writes the pull secret',
    does: 'writes it for all to read',
    from: '[{ path: AUTH_FILE, mode: 0o600,',
    to: '[{ path: AUTH_FILE, mode: 0o644,',
  },
  {
    ...FILES,
    row: 'image-customization-controller has any certificate',
    does: 'has any taken',
    from: "tls === undefined || tls === 'insecure'",
    to: "tls !== undefined || tls === 'insecure'",
  },
  {
    ...URLS,
    row: 'It appends `/v1/continue`',
    does: 'appends it',
    from: 'const INSPECTION_PATHS = /\\/v1\\/continue(_inspection)?$/',
    to: 'const INSPECTION_PATHS = /\\/v1\\/continue$/',
  },
  {
    row: 'It writes proxies and IP options',
    does: 'writes them as they are',
    file: 'coreos/agent/agent-unit.ts',
    from: ".replaceAll('%', '%%')",
    to: '',
  },
  {
    row: 'It skips malformed URLs',
    does: 'shows the password',
    file: 'coreos/agent/service-urls.ts',
    from: '`${JSON.stringify(maskedAddress(text))} is not an address of Ironic`',
    to: '`${JSON.stringify(text)} is not an address of Ironic`',
  },
])
