import { makeCollection, resourceHead, referenceTo, redfishPath, enabledStatus } from '../protocol/redfish-document.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'
import { ofService, type RedfishCall, type RedfishOutcome, type RedfishResource } from '../protocol/resource.js'
import type { RedfishTask } from '../tasks/tasks.js'

const findTask = ({ service, params, caller }: RedfishCall): RedfishTask | undefined => {
  const task = service.tasks.get(params['task']!)
  const machine = task && service.machines.get(task.machine)
  return machine && caller && service.sees(machine, caller) ? task : undefined
}

/**
 * The answer to a request whose work is a task. As with iDRAC it names the monitor and nothing else: sushy 5.14 follows
 * the task of a body, which does not say by its status that it runs, and cannot sleep for a Retry-After.
 */
export const acceptedTask = (task: RedfishTask): RedfishOutcome => ({
  status: 202,
  headers: { location: redfishPath('TaskService', 'TaskMonitors', task.id) },
})

/** The tasks of machines, each caller's own, and their monitors. */
export const TASK_RESOURCES: readonly RedfishResource[] = [
  ofService('/TaskService', {
    reads: 'read tasks',
    get: ({ service }) => ({
      ...resourceHead('TaskService', ['TaskService'], 'Task Service'),
      DateTime: new Date(service.clock.now()).toISOString(),
      CompletedTaskOverWritePolicy: 'Oldest',
      LifeCycleEventOnTaskStateChange: false,
      ServiceEnabled: true,
      Status: enabledStatus(),
      Tasks: referenceTo('TaskService', 'Tasks'),
    }),
  }),
  ofService('/TaskService/Tasks', {
    reads: 'read tasks',
    get: (call) => {
      const { tasks } = call.service
      const own = tasks.list().filter(({ id }) => findTask({ ...call, params: { task: id } }))
      const path = ['TaskService', 'Tasks']
      return makeCollection(
        'TaskCollection',
        path,
        'Tasks',
        own.map(({ id }) => referenceTo(...path, id)),
      )
    },
  }),
  ofService('/TaskService/Tasks/{task}', {
    reads: 'read tasks',
    changes: 'change tasks',
    get: (call) => {
      const task = findTask(call)
      return task && call.service.tasks.document(task)
    },
    delete: (call) => {
      const task = findTask(call)
      if (!task) throw messageRefusal(404, 'ResourceNotFound', ['Task', call.params['task']!])
      if (!task.ended) throw messageRefusal(409, 'ResourceInUse', [], { resolution: 'Wait until the task has ended.' })
      call.service.tasks.delete(task.id)
    },
  }),
  ofService('/TaskService/TaskMonitors/{task}', {
    reads: 'read tasks',
    get: (call) => {
      const task = findTask(call)
      return task && (task.ended?.result ?? call.service.tasks.document(task))
    },
    statusOf: (call) => (findTask(call)?.ended === undefined ? 202 : 200),
  }),
]
