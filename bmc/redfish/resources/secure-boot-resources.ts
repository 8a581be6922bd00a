import { SECURE_BOOT_DATABASES, type Machine, type SecureBootDatabase } from '../../../machine/index.js'
import { boolCheck, checkAction, checkPatch, choiceCheck } from '../protocol/value-checks.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  redfishPath,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'
import { ofMachine, type MachineCall, type RedfishResource } from '../protocol/resource.js'

const KEY_RESETS = ['ResetAllKeysToDefault', 'DeleteAllKeys', 'DeletePK'] as const
const DATABASE_RESETS = ['ResetAllKeysToDefault', 'DeleteAllKeys'] as const

const secureBootPath = ({ spec }: Machine, ...more: string[]): string[] => ['Systems', spec.id, 'SecureBoot', ...more]

function secureBootOf({ machine }: Pick<MachineCall, 'machine'>): RedfishDocument {
  const { firmware } = machine
  return {
    ...resourceHead('SecureBoot', secureBootPath(machine), 'UEFI Secure Boot'),
    SecureBootEnable: firmware.report().secureBoot,
    SecureBootCurrentBoot: firmware.bootedSecurely ? 'Enabled' : 'Disabled',
    SecureBootMode: firmware.emptyKeys.includes('PK') ? 'SetupMode' : 'UserMode',
    SecureBootDatabases: referenceTo(...secureBootPath(machine, 'SecureBootDatabases')),
    Actions: {
      '#SecureBoot.ResetKeys': {
        target: redfishPath(...secureBootPath(machine, 'Actions', 'SecureBoot.ResetKeys')),
        'ResetKeysType@Redfish.AllowableValues': KEY_RESETS,
      },
    },
  }
}

async function patchSecureBoot({ machine, body }: MachineCall): Promise<void> {
  checkPatch(body, { SecureBootEnable: boolCheck }, secureBootOf({ machine }))
  const { firmware } = machine
  const wanted = body['SecureBootEnable'] as boolean
  const conflict = (other: string, resolution: string) =>
    messageRefusal(400, 'PropertyValueConflict', ['SecureBootEnable', other], {
      property: 'SecureBootEnable',
      resolution,
    })
  if (wanted && firmware.bootMode === 'bios')
    throw conflict('BootSourceOverrideMode', 'Set the boot mode of the system to UEFI first.')
  if (wanted && firmware.emptyKeys.includes('PK'))
    throw conflict('SecureBootMode', 'There is no platform key: reset the keys to their default first.')
  await firmware.setSecureBoot(wanted)
}

async function resetKeys({ machine, body }: MachineCall): Promise<void> {
  checkAction('SecureBoot.ResetKeys', body, { ResetKeysType: choiceCheck(KEY_RESETS) }, ['ResetKeysType'])
  const type = body['ResetKeysType'] as (typeof KEY_RESETS)[number]
  const { firmware } = machine
  if (type === 'ResetAllKeysToDefault') return firmware.setEmptyKeys([])
  if (type === 'DeleteAllKeys') return firmware.setEmptyKeys(SECURE_BOOT_DATABASES)
  return firmware.setEmptyKeys([...new Set([...firmware.emptyKeys, 'PK' as const])])
}

const databaseIn = ({ params }: MachineCall): SecureBootDatabase | undefined =>
  SECURE_BOOT_DATABASES.find((each) => each === params['database'])

function databaseOf(call: MachineCall): RedfishDocument | undefined {
  const id = databaseIn(call)
  if (!id) return undefined
  const own = secureBootPath(call.machine, 'SecureBootDatabases', id)
  return {
    ...resourceHead('SecureBootDatabase', own, `Secure boot database ${id}`),
    DatabaseId: id,
    Actions: {
      '#SecureBootDatabase.ResetKeys': {
        target: redfishPath(...own, 'Actions', 'SecureBootDatabase.ResetKeys'),
        'ResetKeysType@Redfish.AllowableValues': DATABASE_RESETS,
      },
    },
  }
}

async function resetDatabase(call: MachineCall): Promise<void> {
  const id = databaseIn(call)
  if (!id) throw messageRefusal(404, 'ResourceNotFound', ['SecureBootDatabase', call.params['database']!])
  const { machine, body } = call
  checkAction('SecureBootDatabase.ResetKeys', body, { ResetKeysType: choiceCheck(DATABASE_RESETS) }, ['ResetKeysType'])
  const others = machine.firmware.emptyKeys.filter((each) => each !== id)
  await machine.firmware.setEmptyKeys(body['ResetKeysType'] === 'DeleteAllKeys' ? [...others, id] : others)
}

/** Secure boot of a system and its keys; turning it on or off holds from the next boot on. */
export const SECURE_BOOT_RESOURCES: readonly RedfishResource[] = [
  ofMachine('/Systems/{machine}/SecureBoot', {
    reads: 'read firmware',
    changes: 'change firmware',
    get: secureBootOf,
    patch: patchSecureBoot,
  }),
  ofMachine('/Systems/{machine}/SecureBoot/Actions/SecureBoot.ResetKeys', {
    reads: 'change firmware',
    post: resetKeys,
  }),
  ofMachine('/Systems/{machine}/SecureBoot/SecureBootDatabases', {
    reads: 'read firmware',
    get: ({ machine }) => {
      const own = secureBootPath(machine, 'SecureBootDatabases')
      const members = SECURE_BOOT_DATABASES.map((id) => referenceTo(...own, id))
      return makeCollection('SecureBootDatabaseCollection', own, 'Secure Boot Databases', members)
    },
  }),
  ofMachine('/Systems/{machine}/SecureBoot/SecureBootDatabases/{database}', {
    reads: 'read firmware',
    get: databaseOf,
  }),
  ofMachine('/Systems/{machine}/SecureBoot/SecureBootDatabases/{database}/Actions/SecureBootDatabase.ResetKeys', {
    reads: 'change firmware',
    post: resetDatabase,
  }),
]
