import { textOf } from '../../../wire/index.js'
/** A step as Ironic's messages name it: `deploy.install_coreos`. */
export const stepName = (step: { interface?: unknown; step?: unknown }): string =>
  `${textOf(step.interface)}.${textOf(step.step)}`
