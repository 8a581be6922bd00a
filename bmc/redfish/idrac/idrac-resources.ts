import { announcedNeighbour } from '../../../machine/index.js'
import { checkAction, choiceCheck, textCheck } from '../protocol/value-checks.js'
import { makeCollection, referenceTo, type RedfishDocument } from '../protocol/redfish-document.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'
import type { MachineCall, RedfishResource } from '../protocol/resource.js'
import type { RedfishTask } from '../tasks/tasks.js'
import { actionOf, dellHead, dellPath, dellRefusal, ofIdrac } from './idrac-service.js'
import { SYSTEM_CONFIGURATION_RESOURCES } from './system-configuration.js'

const MANAGER = '/Managers/{machine}/Oem/Dell'
const SYSTEM = '/Systems/{machine}/Oem/Dell'

const IDRAC_RESETS = ['Graceful', 'Force']

/** A resource that has nothing but an action. */
const withAction = (
  parent: 'Managers' | 'Systems',
  name: string,
  action: string,
  values: RedfishDocument = {},
): RedfishResource =>
  ofIdrac(`/${parent}/{machine}/Oem/Dell/${name}`, {
    reads: 'read manager',
    get: ({ machine }) => {
      const path = dellPath(parent, machine, name)
      return { ...dellHead(name, path), Actions: actionOf(path, `${name}.${action}`, values) }
    },
  })

const jobsOf = ({ machine, service }: MachineCall): RedfishTask[] =>
  service.tasks.list().filter((task) => task.machine === machine.spec.id)

/** The queue of jobs: a service's tasks are the jobs of an iDRAC. */
function deleteJobs(call: MachineCall): void {
  const { body, service } = call
  checkAction('DellJobService.DeleteJobQueue', body, { JobID: textCheck() }, ['JobID'])
  const id = body['JobID'] as string
  const jobs = jobsOf(call)
  const isAll = id === 'JID_CLEARALL' || id === 'JID_CLEARALL_FORCE'
  const wanted = isAll ? jobs : jobs.filter((task) => task.id === id)
  if (!isAll && wanted.length === 0)
    throw dellRefusal('SUP025', `There is no job ${id}.`, 'See the collection Jobs for the ids.')
  if (wanted.some(({ ended }) => !ended) && id !== 'JID_CLEARALL_FORCE')
    throw messageRefusal(409, 'ResourceInUse', [], { resolution: 'Wait until the job has ended.' })
  for (const { id: each, ended } of wanted) if (ended) service.tasks.delete(each)
}

function jobOf(call: MachineCall): RedfishDocument | undefined {
  const task = jobsOf(call).find(({ id }) => id === call.params['job'])
  if (!task) return undefined
  const { TaskState: state, PercentComplete, Messages } = call.service.tasks.document(task)
  const [message] = Messages as { Message: string; MessageId: string }[]
  return {
    ...dellHead('DellJob', dellPath('Managers', call.machine, 'Jobs', task.id)),
    Name: task.name,
    JobType: task.name.replaceAll(' ', ''),
    JobState: state === 'Exception' ? 'Failed' : state,
    PercentComplete,
    Message: message?.Message ?? 'The job is under way.',
    MessageArgs: [],
    MessageId: message?.MessageId ?? 'PR20',
    StartTime: 'TIME_NOW',
    EndTime: 'TIME_NA',
    CompletionTime: task.ended ? new Date(task.ended.at).toISOString().replace(/\.\d+Z$/, '') : null,
  }
}

function switchConnections({ machine: { spec } }: MachineCall): RedfishDocument {
  const path = ['Systems', spec.id, 'NetworkPorts', 'Oem', 'Dell', 'DellSwitchConnections']
  const members = spec.nics.map((nic, index) => {
    const neighbour = nic.carrier ? announcedNeighbour(nic, index) : null
    return {
      ...dellHead('DellSwitchConnection', [...path, nic.name]),
      FQDD: nic.name,
      SwitchConnectionID: neighbour?.chassis ?? 'No Link',
      SwitchPortConnectionID: neighbour?.port ?? 'No Link',
    }
  })
  return makeCollection('DellSwitchConnectionCollection', path, 'DellSwitchConnections', members)
}

const serverStatus = ({ machine }: MachineCall): string => (machine.power() === 'on' ? 'OutOfPOST' : 'PoweredOff')

/** Resources of an iDRAC that Ironic's hardware type `idrac` uses (ironic/drivers/modules/drac, sushy/oem/dell). */
export const IDRAC_RESOURCES: readonly RedfishResource[] = [
  ...SYSTEM_CONFIGURATION_RESOURCES,
  withAction('Managers', 'DelliDRACCardService', 'iDRACReset', { 'Force@Redfish.AllowableValues': IDRAC_RESETS }),
  ofIdrac(`${MANAGER}/DelliDRACCardService/Actions/DelliDRACCardService.iDRACReset`, {
    reads: 'reset bmc',
    post: ({ machine, body }) => {
      checkAction('DelliDRACCardService.iDRACReset', body, { Force: choiceCheck(IDRAC_RESETS) })
      machine.firmware.signal('bmc reset', { warm: body['Force'] !== 'Force' })
    },
  }),
  withAction('Managers', 'DellLCService', 'GetRemoteServicesAPIStatus'),
  ofIdrac(`${MANAGER}/DellLCService/Actions/DellLCService.GetRemoteServicesAPIStatus`, {
    reads: 'read manager',
    post: (call) => {
      checkAction('DellLCService.GetRemoteServicesAPIStatus', call.body, {})
      const ready = { LCStatus: 'Ready', RTStatus: 'Ready', Status: 'Ready' }
      return { status: 200, document: { ...ready, ServerStatus: serverStatus(call) } }
    },
  }),
  withAction('Managers', 'DellJobService', 'DeleteJobQueue'),
  ofIdrac(`${MANAGER}/DellJobService/Actions/DellJobService.DeleteJobQueue`, {
    reads: 'change tasks',
    post: deleteJobs,
  }),
  ofIdrac(`${MANAGER}/Jobs`, {
    reads: 'read tasks',
    get: (call) => {
      const path = dellPath('Managers', call.machine, 'Jobs')
      const members = jobsOf(call).map(({ id }) => referenceTo(...path, id))
      return { ...makeCollection('DellJobCollection', path, 'JobQueue', members), Id: 'JobQueue' }
    },
  }),
  ofIdrac(`${MANAGER}/Jobs/{job}`, { reads: 'read tasks', get: jobOf }),
  withAction('Systems', 'DellRaidService', 'ClearForeignConfig'),
  ofIdrac(`${SYSTEM}/DellRaidService/Actions/DellRaidService.ClearForeignConfig`, {
    reads: 'change firmware',
    post: ({ body }) => {
      checkAction('DellRaidService.ClearForeignConfig', body, { TargetFQDD: textCheck() }, ['TargetFQDD'])
      throw dellRefusal('STOR018', 'No foreign drives are attached.', 'Attach one first.')
    },
  }),
  ofIdrac('/Systems/{machine}/NetworkPorts/Oem/Dell/DellSwitchConnections', {
    reads: 'read hardware',
    get: switchConnections,
  }),
]
