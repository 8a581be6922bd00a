import { formatClientValue } from '../../../base/wire/index.js'
/** A step as Ironic's messages name it: `deploy.install_coreos`. */
export const formatStepName = (step: { interface?: unknown; step?: unknown }): string =>
  `${formatClientValue(step.interface)}.${formatClientValue(step.step)}`
