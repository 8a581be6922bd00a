import { CLUSTER_MUTANTS } from './cluster.js'
import { AGENT_MUTANTS } from './fidelity/agent.js'
import { API_MUTANTS } from './fidelity/api.js'
import { IPMI_MUTANTS, REDFISH_MUTANTS } from './fidelity/bmcs.js'
import { CONDUCTOR_MUTANTS } from './fidelity/conductor.js'
import { CONFIGURATION_MUTANTS } from './fidelity/configuration.js'
import { IGNITION_MUTANTS } from './fidelity/ignition.js'
import { INSTALL_MUTANTS } from './fidelity/install.js'
import {
  INSTALLER_MUTANTS,
  MACHINE_MUTANTS,
  SIMULATED_STEP_MUTANTS,
  SSH_MUTANTS,
  STREAM_MUTANTS,
} from './fidelity/machines.js'
import { IMAGE_MUTANTS } from './images.js'
import { METADATA_MUTANTS } from './metadata.js'
import type { Mutant } from './mutant.js'
import { SYSTEM_MUTANTS } from './systems.js'

/** Mutants of the rows of `docs/design-coverage.md`. */
export const DESIGN_MUTANTS: readonly Mutant[] = [
  ...CLUSTER_MUTANTS,
  ...IMAGE_MUTANTS,
  ...METADATA_MUTANTS,
  ...SYSTEM_MUTANTS,
]

/** Mutants of the rows of `docs/fidelity/`. */
export const FIDELITY_MUTANTS: readonly Mutant[] = [
  ...API_MUTANTS,
  ...CONDUCTOR_MUTANTS,
  ...CONFIGURATION_MUTANTS,
  ...AGENT_MUTANTS,
  ...INSTALL_MUTANTS,
  ...SIMULATED_STEP_MUTANTS,
  ...IGNITION_MUTANTS,
  ...INSTALLER_MUTANTS,
  ...SSH_MUTANTS,
  ...MACHINE_MUTANTS,
  ...IPMI_MUTANTS,
  ...REDFISH_MUTANTS,
  ...STREAM_MUTANTS,
]
