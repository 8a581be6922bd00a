import { UserError } from '../../base/runtime/index.js'
import { standardManagers } from '../hardware-managers.js'
import type { HardwareManager, Step } from './step.js'

/** Class name of the manager for steps without one. */
const CUSTOM_MANAGER = 'CustomHardwareManager'

/** Support level of a service provider, as that of OpenShift's manager. */
const SUPPORT = 3

/**
 * Adds managers and steps to the standard managers. Steps without a manager go into one of class `CustomHardwareManager`
 * with support 3. Added ones come first, so their steps replace generic ones of the same name.
 *
 * @throws UserError when two steps of a manager, or two managers, have the same name
 *
 * @example
 * import { createLab, defineStep } from 'ironstage'
 * import { managersWith } from 'ironstage/steps'
 *
 * const greet = defineStep({ name: 'greet', interface: 'deploy', on: ['deploy'], run: async () => 'hello' })
 * await using lab = await createLab({ managers: managersWith(greet) })
 */
export function managersWith(...added: readonly (Step | HardwareManager)[]): readonly HardwareManager[] {
  const loose = added.filter((one): one is Step => !('steps' in one))
  const managers = added.filter((one): one is HardwareManager => 'steps' in one)
  const custom: HardwareManager = {
    className: CUSTOM_MANAGER,
    name: 'custom_hardware_manager',
    version: '1',
    support: () => Promise.resolve(SUPPORT),
    steps: loose,
  }
  const all = [...managers, ...(loose.length > 0 ? [custom] : []), ...standardManagers]
  refuseTwice(
    all.map(({ className }) => className),
    (name) => `there are two hardware managers of class ${name}`,
    'name one of them differently',
  )
  for (const { className, steps } of all)
    refuseTwice(
      steps.map(({ name }) => name),
      (name) => `there are two steps ${name} in ${className}`,
      'name one of them differently, or load only one of them',
    )
  refuseHidden(loose)
  return all
}

function refuseTwice(names: readonly string[], sentence: (name: string) => string, remedy: string): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new UserError('steps-twice', sentence(twice), { remedy, kind: 'usage' })
}

/**
 * Refuses a step that the agent would never offer: of two steps with the same name and support, that of the first class
 * name wins, and `CoreOSInstallHardwareManager` comes before `CustomHardwareManager`.
 */
function refuseHidden(loose: readonly Step[]): void {
  const own = standardManagers.find(({ className }) => className === 'CoreOSInstallHardwareManager')
  const hidden = loose.find(({ name }) => own?.steps.some((step) => step.name === name))
  if (hidden)
    throw new UserError('step-taken', `the step ${hidden.name} already exists, in ${own?.className}`, {
      remedy: 'name yours differently, or export a hardware manager with a support above 3 that has it',
      kind: 'usage',
    })
}
