import { CLUSTER_MUTANTS } from './cluster.js'
import { IMAGE_MUTANTS } from './images.js'
import { METADATA_MUTANTS } from './metadata.js'
import type { Mutant } from './mutant.js'
import { SYSTEM_MUTANTS } from './systems.js'

/** Mutants of the rows of `docs/design-coverage.md`. */
export const MUTANTS: readonly Mutant[] = [...CLUSTER_MUTANTS, ...IMAGE_MUTANTS, ...METADATA_MUTANTS, ...SYSTEM_MUTANTS]
