import type { Script } from '../script.js'
import { allocations } from './allocations.js'
import { chassisAndVolumes } from './chassis-and-volumes.js'
import { creations } from './creations.js'
import { inspectionRules } from './inspection-rules.js'
import { lists } from './lists.js'
import { malformedVerbs } from './malformed-verbs.js'
import { microversions } from './microversions.js'
import { nowhere } from './nowhere.js'
import { oddPaths } from './odd-paths.js'
import { patches, patchesInStates } from './patches.js'
import { portgroups } from './portgroups.js'
import { ports } from './ports.js'
import { ramdisk, waiting } from './ramdisk.js'
import { driverStepArguments } from './step-arguments.js'
import { subResources } from './sub-resources.js'
import { deployTemplates, runbooks, steps } from './templates-and-runbooks.js'
import { refusals, verbsInStates } from './verbs.js'

/** They list what is there, so they are played one after the other. */
export const ALONE: readonly Script[] = [
  nowhere(),
  microversions(),
  lists(),
  creations(),
  ports(),
  portgroups(),
  chassisAndVolumes(),
  deployTemplates(),
  runbooks(),
  inspectionRules(),
  allocations(),
]

/** They keep to nodes of their own, so several are played side by side. */
export const TOGETHER: readonly { readonly name: string; readonly scripts: readonly Script[] }[] = [
  {
    name: 'one node and what is below it',
    scripts: [subResources(), patches(), malformedVerbs(), ramdisk(), oddPaths()],
  },
  { name: 'steps of templates and runbooks', scripts: [...steps(), ...driverStepArguments()] },
  { name: 'PATCH in many states', scripts: patchesInStates() },
  { name: 'every verb in every state', scripts: verbsInStates() },
  { name: 'verbs that cannot be, and that wait for an agent', scripts: [...refusals(), ...waiting()] },
]
