import { formatClientValue } from '../../../../base/wire/index.js'
import { outOfBandSteps } from '../../steps/driver-steps.js'
import { automatedCleanSteps, checkUserSteps, type PlannedStep } from '../../steps/plan-steps.js'
import { isReserved } from '../../steps/reserved-steps.js'
import type { NodeTask } from '../../core/node-task.js'

/** Manual cleaning has the target state `manageable` throughout. */
export const isManual = (task: NodeTask): boolean => task.node.target_provision_state === 'manageable'

/** Plans `clean_steps`; returns the errors of steps that a user or a runbook named. */
export function planCleaning(task: NodeTask): string | undefined {
  const { node, conf, info } = task
  if (info.declarative_cleaning !== true) {
    const steps = automatedCleanSteps(node, conf).filter((step) => isStepAllowed(task, step))
    task.setInfo({ clean_steps: steps, clean_step_index: null })
    return undefined
  }
  const wanted = (info.clean_steps ?? []) as PlannedStep[]
  const disableRamdisk = info.cleaning_disable_ramdisk === true
  const { errors, steps } = checkUserSteps(node, 'clean', wanted, { conf, skipMissing: false, disableRamdisk })
  // Refused steps are stored too, as recorded.
  task.setInfo({ clean_steps: steps.filter((step) => isStepAllowed(task, step)) })
  if (errors.length > 0) return errors.join('; ')
  task.setInfo({ clean_step_index: null })
  return undefined
}

const isStepAllowed = ({ conf }: NodeTask, step: PlannedStep): boolean =>
  !conf.disallowCleanSteps.includes(`${formatClientValue(step.interface)}.${formatClientValue(step.step)}`)

/** True when the node's interfaces run all steps out of band, so that no ramdisk has to boot. */
export function allWithoutRamdisk({ node, info }: NodeTask): boolean {
  const known = outOfBandSteps(node, 'clean')
  const steps = (info.clean_steps ?? []) as PlannedStep[]
  return (
    steps.length > 0 &&
    steps.every(
      (step) =>
        isReserved(step) ||
        known.some(
          (own) => own.interface === step.interface && own.step === step.step && own.requires_ramdisk === false,
        ),
    )
  )
}
