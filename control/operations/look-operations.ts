import type { DiskDrawing } from '../../machine/index.js'
import type { ActivityReport } from '../documents/activity-document.js'
import type { NodeTimeline } from '../timeline/timeline.js'
import type { ShownFile, SystemJournalLine } from '../documents/machine-documents.js'
import type { ConsoleEvent } from '../documents/machine-documents.js'
import { typedSchema, type ControlOperation } from './control-operation.js'
import type { WantedReport } from '../documents/wanted-document.js'
import type { RunProgress } from '../documents/run-document.js'
import { arraySchema, openObjectSchema } from './schema-forms.js'

const OBJECT = { type: 'object' }

/** Calls that show a node or a machine from inside, and change nothing. */
export const LOOK_OPERATIONS = [
  {
    id: 'activity',
    method: 'GET',
    path: '/activity',
    status: 200,
    summary: "The last hour of the computer's clock: nodes in each state, arrivals in states, exchanges",
    answer: typedSchema<ActivityReport>({ type: 'object', required: ['goal', 'points'] }),
  },
  {
    id: 'timeline',
    method: 'GET',
    path: '/nodes/{node}/timeline',
    status: 200,
    summary:
      'What happened to a node: states, steps, calls; what it waits for; causes of its last error; its plan of steps',
    answer: typedSchema<NodeTimeline>({
      type: 'object',
      required: ['node', 'now', 'states', 'steps', 'marks', 'waiting', 'causes', 'remedy', 'plan'],
    }),
  },
  {
    id: 'wanted',
    method: 'GET',
    path: '/nodes/{node}/wanted',
    status: 200,
    summary: 'What Ironic, and the BareMetalHost behind the node, want of a machine, beside what it has',
    answer: typedSchema<WantedReport>({ type: 'object', required: ['items', 'host'] }),
  },
  {
    id: 'disks',
    method: 'GET',
    path: '/machines/{machine}/disks',
    status: 200,
    summary: 'The disks of a machine: partitions, filesystems, and what was written when',
    answer: openObjectSchema({ disks: arraySchema(typedSchema<DiskDrawing>(OBJECT)) }),
  },
  {
    id: 'filesOfMachine',
    method: 'GET',
    path: '/machines/{machine}/files',
    status: 200,
    summary: 'Files of a filesystem on its disk; contents that only their owner may read are left out',
    query: {
      filesystem: typedSchema<'boot' | 'root'>({ enum: ['boot', 'root'], description: 'default root' }),
      disk: typedSchema<string>({ type: 'string', description: 'kernel name of the disk; default the first' }),
      path: typedSchema<string>({ type: 'string', description: 'one file, with its contents' }),
    },
    answer: openObjectSchema({ files: arraySchema(typedSchema<ShownFile>(OBJECT)) }),
  },
  {
    id: 'journalOfMachine',
    method: 'GET',
    path: '/machines/{machine}/journal',
    status: 200,
    summary: 'Journal of the system on its disk, Ignition included',
    answer: openObjectSchema({ journal: arraySchema(typedSchema<SystemJournalLine>(OBJECT)) }),
  },
  {
    id: 'run',
    method: 'GET',
    path: '/run',
    status: 200,
    summary: 'The hosts of `ironstage run`, each with its stages',
    answer: typedSchema<RunProgress>({ type: 'object', required: ['id', 'isRehearsal', 'hosts'] }),
  },
  {
    id: 'report',
    method: 'GET',
    path: '/report',
    status: 200,
    summary: 'The lab, or one node of it, as an HTML page that needs nothing else',
    query: { node: typedSchema<string>({ type: 'string', minLength: 1, description: 'uuid or name' }) },
    answer: 'text/html',
  },
  {
    id: 'followConsole',
    method: 'GET',
    path: '/machines/{machine}/console',
    status: 200,
    summary: 'The console live: first the existing lines, then each new one',
    answer: 'text/event-stream',
    event: typedSchema<ConsoleEvent>(OBJECT),
  },
] as const satisfies readonly ControlOperation[]
