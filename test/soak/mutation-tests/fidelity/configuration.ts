import { fidelityMutants } from './fidelity-mutant.js'

const READ = { file: 'ironic-mock/config/read-config.ts' }

/** Rows of the configuration, and of who may call. */
export const CONFIGURATION_MUTANTS = fidelityMutants('configuration', [
  {
    ...READ,
    row: '`[DEFAULT]auth_strategy` is keystone',
    does: 'says nothing',
    from: "?.text === 'keystone') notes.push(",
    to: "?.text === 'keystones') notes.push(",
  },
  {
    ...READ,
    row: 'Enabled interfaces all exist',
    does: 'enables nothing',
    from: 'if (known?.length !== 0 && usable?.length === 0) {',
    to: 'if (known?.length === 0 && usable?.length === 0) {',
  },
  {
    ...READ,
    row: 'Metal3',
    does: 'keeps its own default',
    from: 'conf.inspectionPowerOff = !conf.fastTrack',
    to: 'conf.inspectionPowerOff = conf.inspectionPowerOff',
  },
  {
    row: 'Ironic reports an invalid value',
    does: 'tells the first mistake alone',
    file: 'ironic-mock/config/check-layers.ts',
    from: 'if (problems.length === 1) return badConfig(',
    to: 'if (problems.length > 0) return badConfig(',
  },
  {
    row: 'Unknown options in `ironic.conf`',
    does: 'ignores them',
    file: 'ironic-mock/config/check-layers.ts',
    from: '        : unknownOption(setting, effective)\n',
    to: '        : (unknownOption(setting, effective), undefined)\n',
  },
  {
    row: 'Checking a wrong password blocks',
    does: 'lets any number wait',
    file: 'ironic-mock/auth/password-comparisons.ts',
    from: 'if (own.length >= MAX_WAITING_OF_ADDRESS || all >= MAX_WAITING)',
    to: 'if (own.length >= MAX_WAITING_OF_ADDRESS && all >= MAX_WAITING * 99)',
  },
  {
    row: 'A `default_X_interface` that a hardware type does not support',
    does: 'takes any',
    file: 'ironic-mock/drivers/enabled.ts',
    from: 'usable.find((name) => name === defaults[kind]) ??',
    to: 'defaults[kind] ??',
  },
  {
    row: 'Ironic ignores `Host` and `Origin`',
    does: 'ignores the name',
    file: 'base/bytes/server/known-callers.ts',
    from: 'if (!checksHost) return undefined',
    to: 'if (asked !== undefined) return undefined',
  },
  {
    row: 'The API listens on every address',
    does: 'lets others in without passwords',
    file: 'lab/serve.ts',
    from: "  if (authStrategy === 'noauth')\n    throw",
    to: "  if (authStrategy === 'noauth' && host === '')\n    throw",
    hangs: true,
  },
  {
    row: 'Without configuration `ipmi` and `redfish`',
    does: 'has another order',
    file: 'ironic-mock/drivers/enabled.ts',
    from: "inspect: ['fake', 'redfish', 'idrac-redfish', 'agent', 'no-inspect'],",
    to: "inspect: ['fake', 'agent', 'redfish', 'idrac-redfish', 'no-inspect'],",
  },
  {
    row: 'The API answers before its conductor',
    does: 'answers at once',
    file: 'lab/snapshots/outside-requests.ts',
    from: 'if (!this.#isOpen) await this.#opening',
    to: "if (!this.#isOpen) return { status: 503, headers: {}, body: 'not started' }",
  },
  {
    row: '`enable_ssl_api` without a certificate',
    does: 'does not keep the one that was made',
    file: 'lab/stage/stage-access.ts',
    from: 'if (saved && isGood(saved.certificate,',
    to: 'if (saved && also.length < 0 && isGood(saved.certificate,',
  },
])
