import { defined } from '../../runtime/index.js'
import { isDell, type Machine } from '../../machine/index.js'
import { message, type Message } from '../protocol/messages.js'
import { link, pathOf, type Document } from '../protocol/document.js'
import { refused, Refusal } from '../protocol/refusal.js'
import { ofMachine, type MachineCall, type Resource } from '../protocol/resource.js'

/** The parts of an iDRAC that sushy's extension `dell` looks for. Other machines show none of them. */
export const dellParts = (machine: Machine, parts: Document): Document => (isDell(machine.spec) ? parts : {})

/** Path of a resource of Dell below a manager or a system. */
export const dellPath = (parent: 'Managers' | 'Systems', { spec }: Machine, ...more: string[]): string[] => [
  parent,
  spec.id,
  'Oem',
  'Dell',
  ...more,
]

/** The head of a resource of Dell: `#DellJobService.v1_1_0.DellJobService`. */
export const dellHead = (type: string, path: readonly string[]): Document => ({
  '@odata.id': pathOf(...path),
  '@odata.type': type.includes('Collection') ? `#${type}.${type}` : `#${type}.v1_1_0.${type}`,
  Id: path.at(-1) ?? '',
  Name: path.at(-1) ?? '',
})

/** The links of a manager to what an iDRAC offers beyond Redfish. */
export const managerLinks = (machine: Machine): Document => ({
  Oem: {
    Dell: {
      '@odata.type': '#DellOem.v1_3_0.DellOemLinks',
      DelliDRACCardService: link(...dellPath('Managers', machine, 'DelliDRACCardService')),
      DellJobService: link(...dellPath('Managers', machine, 'DellJobService')),
      DellLCService: link(...dellPath('Managers', machine, 'DellLCService')),
      Jobs: link(...dellPath('Managers', machine, 'Jobs')),
    },
  },
})

/** Dell's OEM links of a system. */
export const systemLinks = (machine: Machine): Document => ({
  Oem: {
    Dell: {
      '@odata.type': '#DellOem.v1_3_0.DellOemLinks',
      DellRaidService: link(...dellPath('Systems', machine, 'DellRaidService')),
    },
  },
})

/** An action with its values: `actionOf(path, 'DellJobService.DeleteJobQueue')`. */
export const actionOf = (path: readonly string[], name: string, values: Document = {}): Document => ({
  [`#${name}`]: { target: pathOf(...path, 'Actions', name), ...values },
})

/** A refusal by a message of Dell's registry: `STOR018`. */
export function dellRefusal(id: string, sentence: string, resolution: string): Refusal {
  const entry: Message = { ...message('GeneralError'), MessageId: `IDRAC.2.8.${id}`, Message: sentence }
  return new Refusal(400, [{ ...entry, Resolution: resolution }])
}

type Methods = Parameters<typeof ofMachine>[1]

/** A resource that only the machines of Dell have. */
export function ofIdrac(path: string, methods: Methods): Resource {
  const { get, post } = methods
  const has = ({ machine }: MachineCall) => isDell(machine.spec)
  return ofMachine(path, {
    ...methods,
    ...defined({
      get: get ? (call: MachineCall) => (has(call) ? get(call) : undefined) : undefined,
      post: post
        ? (call: MachineCall) => {
            if (has(call)) return post(call)
            throw refused(404, 'ResourceMissingAtURI', [call.request.target])
          }
        : undefined,
    }),
  })
}
