import { bootPreparationFailed, DEPLOY_STEP, type DeployInterface } from './deploy-interface.js'

/** A deployment that succeeds at once, for tests. */
export const FAKE_DEPLOY: DeployInterface = {
  name: 'fake',
  preference: 0,
  supportedBy: 'the type for tests',
  runs: 'nothing',
  steps: [DEPLOY_STEP],
  bootDeviceFailed: bootPreparationFailed,
}

/** A machine that is deployed by other means. */
export const NOOP_DEPLOY: DeployInterface = {
  name: 'noop',
  preference: 6,
  supportedBy: 'types without a BMC',
  runs: 'nothing',
  steps: [DEPLOY_STEP],
  bootDeviceFailed: bootPreparationFailed,
}
