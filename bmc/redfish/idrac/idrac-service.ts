import { defined } from '../../../base/runtime/index.js'
import { isDell, type Machine } from '../../../machine/index.js'
import { baseMessage, type RedfishMessage } from '../protocol/redfish-messages.js'
import { referenceTo, redfishPath, type RedfishDocument } from '../protocol/redfish-document.js'
import { messageRefusal, Refusal } from '../protocol/redfish-refusal.js'
import { ofMachine, type MachineCall, type RedfishResource } from '../protocol/resource.js'

/** The parts of an iDRAC that sushy's extension `dell` looks for. Other machines show none of them. */
export const dellParts = (machine: Machine, parts: RedfishDocument): RedfishDocument =>
  isDell(machine.spec) ? parts : {}

/** Path of a resource of Dell below a manager or a system. */
export const dellPath = (parent: 'Managers' | 'Systems', { spec }: Machine, ...more: string[]): string[] => [
  parent,
  spec.id,
  'Oem',
  'Dell',
  ...more,
]

/** The head of a resource of Dell: `#DellJobService.v1_1_0.DellJobService`. */
export const dellHead = (type: string, path: readonly string[]): RedfishDocument => ({
  '@odata.id': redfishPath(...path),
  '@odata.type': type.includes('Collection') ? `#${type}.${type}` : `#${type}.v1_1_0.${type}`,
  Id: path.at(-1) ?? '',
  Name: path.at(-1) ?? '',
})

/** The links of a manager to what an iDRAC offers beyond Redfish. */
export const managerLinks = (machine: Machine): RedfishDocument => ({
  Oem: {
    Dell: {
      '@odata.type': '#DellOem.v1_3_0.DellOemLinks',
      DelliDRACCardService: referenceTo(...dellPath('Managers', machine, 'DelliDRACCardService')),
      DellJobService: referenceTo(...dellPath('Managers', machine, 'DellJobService')),
      DellLCService: referenceTo(...dellPath('Managers', machine, 'DellLCService')),
      Jobs: referenceTo(...dellPath('Managers', machine, 'Jobs')),
    },
  },
})

/** Dell's OEM links of a system. */
export const systemLinks = (machine: Machine): RedfishDocument => ({
  Oem: {
    Dell: {
      '@odata.type': '#DellOem.v1_3_0.DellOemLinks',
      DellRaidService: referenceTo(...dellPath('Systems', machine, 'DellRaidService')),
    },
  },
})

/** An action with its values: `actionOf(path, 'DellJobService.DeleteJobQueue')`. */
export const actionOf = (path: readonly string[], name: string, values: RedfishDocument = {}): RedfishDocument => ({
  [`#${name}`]: { target: redfishPath(...path, 'Actions', name), ...values },
})

/** A refusal by a message of Dell's registry: `STOR018`. */
export function dellRefusal(id: string, sentence: string, resolution: string): Refusal {
  const entry: RedfishMessage = { ...baseMessage('GeneralError'), MessageId: `IDRAC.2.8.${id}`, Message: sentence }
  return new Refusal(400, [{ ...entry, Resolution: resolution }])
}

type MachineMethods = Parameters<typeof ofMachine>[1]

/** A resource that only the machines of Dell have. */
export function ofIdrac(path: string, methods: MachineMethods): RedfishResource {
  const { get, post } = methods
  const has = ({ machine }: MachineCall) => isDell(machine.spec)
  return ofMachine(path, {
    ...methods,
    ...defined({
      get: get ? (call: MachineCall) => (has(call) ? get(call) : undefined) : undefined,
      post: post
        ? (call: MachineCall) => {
            if (has(call)) return post(call)
            throw messageRefusal(404, 'ResourceMissingAtURI', [call.request.target])
          }
        : undefined,
    }),
  })
}
