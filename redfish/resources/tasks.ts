import { collection, head, link, pathOf, status } from '../protocol/document.js'
import { refused } from '../protocol/refusal.js'
import { ofService, type Call, type Outcome, type Resource } from '../protocol/resource.js'
import type { Task } from '../tasks/tasks.js'

const find = ({ service, params, caller }: Call): Task | undefined => {
  const task = service.tasks.get(params['task']!)
  const machine = task && service.machines.get(task.machine)
  return machine && caller && service.sees(machine, caller) ? task : undefined
}

/**
 * The answer to a request whose work is a task. As with iDRAC it names the monitor and nothing else: sushy 5.14 follows
 * the task of a body, which does not say by its status that it runs, and cannot sleep for a Retry-After.
 */
export const accepted = (task: Task): Outcome => ({
  status: 202,
  headers: { location: pathOf('TaskService', 'TaskMonitors', task.id) },
})

/** The tasks of machines, each caller's own, and their monitors. */
export const TASK_RESOURCES: readonly Resource[] = [
  ofService('/TaskService', {
    reads: 'read tasks',
    get: ({ service }) => ({
      ...head('TaskService', ['TaskService'], 'Task Service'),
      DateTime: new Date(service.clock.now()).toISOString(),
      CompletedTaskOverWritePolicy: 'Oldest',
      LifeCycleEventOnTaskStateChange: false,
      ServiceEnabled: true,
      Status: status(),
      Tasks: link('TaskService', 'Tasks'),
    }),
  }),
  ofService('/TaskService/Tasks', {
    reads: 'read tasks',
    get: (call) => {
      const { tasks } = call.service
      const own = tasks.list().filter(({ id }) => find({ ...call, params: { task: id } }))
      const path = ['TaskService', 'Tasks']
      return collection(
        'TaskCollection',
        path,
        'Tasks',
        own.map(({ id }) => link(...path, id)),
      )
    },
  }),
  ofService('/TaskService/Tasks/{task}', {
    reads: 'read tasks',
    changes: 'change tasks',
    get: (call) => {
      const task = find(call)
      return task && call.service.tasks.document(task)
    },
    delete: (call) => {
      const task = find(call)
      if (!task) throw refused(404, 'ResourceNotFound', ['Task', call.params['task']!])
      if (!task.ended) throw refused(409, 'ResourceInUse', [], { resolution: 'Wait until the task has ended.' })
      call.service.tasks.delete(task.id)
    },
  }),
  ofService('/TaskService/TaskMonitors/{task}', {
    reads: 'read tasks',
    get: (call) => {
      const task = find(call)
      return task && (task.ended?.result ?? call.service.tasks.document(task))
    },
    statusOf: (call) => (find(call)?.ended === undefined ? 202 : 200),
  }),
]
