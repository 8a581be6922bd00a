import { ERRORS as AGENT } from '../../../agent/index.js'
import { ERRORS as BAREMETAL_OPERATOR } from '../../../baremetal-operator/index.js'
import { ERRORS as BYTES } from '../../../base/bytes/index.js'
import { ERRORS as CLUSTER } from '../../cluster/index.js'
import { ERRORS as DIALECTS } from '../../../bmc/dialects/index.js'
import { ERRORS as DUMPS } from '../../../bmc/dumps/index.js'
import { ERRORS as COREOS } from '../../../coreos/index.js'
import { ERRORS as CONTROL } from '../../../control/index.js'
import { ERRORS as FLEET } from '../../fleet/index.js'
import { ERRORS as HARDWARE_FILES } from '../../hardware-files/index.js'
import { ERRORS as HARDWARE_LAB } from '../../hardware-lab/index.js'
import { ERRORS as IGNITION } from '../../../ignition/index.js'
import { ERRORS as IRONIC } from '../../../ironic-mock/index.js'
import { ERRORS as KUBERNETES } from '../../../base/kubernetes/index.js'
import { ERRORS as LAB } from '../../../lab/index.js'
import { ERRORS as MACHINE } from '../../../machine/index.js'
import { ERRORS as RECORDING } from '../../recording/index.js'
import { ERRORS as REGISTRY } from '../../../base/registry/index.js'
import { ERRORS as RUNS } from '../../runs/index.js'
import { ERRORS as RUNTIME, nearestWord, UserError } from '../../../base/runtime/index.js'
import { ERRORS as STEPS } from '../../../steps/index.js'
import { ERRORS as TARGETS } from '../../../targets/index.js'
import { ERRORS as WIRE } from '../../../base/wire/index.js'
import type { Environment } from '../environment.js'
import { ERRORS as CLI } from '../errors.js'
import type { ERRORS_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'

const CATALOGUES = {
  ...RUNTIME,
  ...BYTES,
  ...WIRE,
  ...IGNITION,
  ...REGISTRY,
  ...KUBERNETES,
  ...COREOS,
  ...TARGETS,
  ...STEPS,
  ...DIALECTS,
  ...DUMPS,
  ...MACHINE,
  ...AGENT,
  ...IRONIC,
  ...CONTROL,
  ...LAB,
  ...BAREMETAL_OPERATOR,
  ...RECORDING,
  ...CLUSTER,
  ...RUNS,
  ...HARDWARE_FILES,
  ...HARDWARE_LAB,
  ...FLEET,
  ...CLI,
}

export interface ListedError {
  code: string
  sentence: string
  remedy: string
}

/** Codes of all rooms in alphabetical order. */
export const LISTED_ERRORS: readonly ListedError[] = Object.entries(CATALOGUES)
  .map(([code, { sentence, remedy }]) => ({ code, sentence, remedy }))
  .sort((a, b) => (a.code < b.code ? -1 : 1))

/**
 * `ironstage errors [CODE...]`: codes that errors have in logs and in the output of `--json`.
 *
 * @throws UserError (unknown-error-code) for a code that is not listed
 */
export function errors(
  { json = false }: CommandOptionValues<(typeof ERRORS_OPTIONS)[number]>,
  { stdout }: Environment,
  codes: readonly string[],
): Promise<number> {
  for (const one of codes.length === 0 ? LISTED_ERRORS : codes.map(findError)) {
    const { code, sentence, remedy } = one
    stdout.either(json, one, [code, `  ${sentence}`, `  try: ${remedy}`])
  }
  return Promise.resolve(0)
}

function findError(code: string): ListedError {
  const entry = LISTED_ERRORS.find((one) => one.code === code)
  if (entry) return entry
  const codes = LISTED_ERRORS.map((one) => one.code)
  throw new UserError('unknown-error-code', `no error has the code ${code}`, {
    remedy: nearestWord(code, codes) ?? 'ironstage errors',
    kind: 'usage',
  })
}
