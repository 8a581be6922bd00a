/** A step as Ironic's messages name it: `deploy.install_coreos`. */
export const stepName = (step: { interface?: unknown; step?: unknown }): string =>
  `${String(step.interface)}.${String(step.step)}`
