import { SECURE_BOOT_DATABASES, type Machine, type SecureBootDatabase } from '../../machine/index.js'
import { bool, checkAction, checkPatch, oneOf } from '../protocol/checks.js'
import { collection, head, link, pathOf, type Document } from '../protocol/document.js'
import { refused } from '../protocol/refusal.js'
import { ofMachine, type MachineCall, type Resource } from '../protocol/resource.js'

const RESETS = ['ResetAllKeysToDefault', 'DeleteAllKeys', 'DeletePK'] as const
const DATABASE_RESETS = ['ResetAllKeysToDefault', 'DeleteAllKeys'] as const

const path = ({ spec }: Machine, ...more: string[]): string[] => ['Systems', spec.id, 'SecureBoot', ...more]

function secureBootOf({ machine }: Pick<MachineCall, 'machine'>): Document {
  const { firmware } = machine
  return {
    ...head('SecureBoot', path(machine), 'UEFI Secure Boot'),
    SecureBootEnable: firmware.report().secureBoot,
    SecureBootCurrentBoot: firmware.bootedSecurely ? 'Enabled' : 'Disabled',
    SecureBootMode: firmware.emptyKeys.includes('PK') ? 'SetupMode' : 'UserMode',
    SecureBootDatabases: link(...path(machine, 'SecureBootDatabases')),
    Actions: {
      '#SecureBoot.ResetKeys': {
        target: pathOf(...path(machine, 'Actions', 'SecureBoot.ResetKeys')),
        'ResetKeysType@Redfish.AllowableValues': RESETS,
      },
    },
  }
}

async function change({ machine, body }: MachineCall): Promise<void> {
  checkPatch(body, { SecureBootEnable: bool }, secureBootOf({ machine }))
  const { firmware } = machine
  const wanted = body['SecureBootEnable'] as boolean
  const conflict = (other: string, resolution: string) =>
    refused(400, 'PropertyValueConflict', ['SecureBootEnable', other], { property: 'SecureBootEnable', resolution })
  if (wanted && firmware.bootMode === 'bios')
    throw conflict('BootSourceOverrideMode', 'Set the boot mode of the system to UEFI first.')
  if (wanted && firmware.emptyKeys.includes('PK'))
    throw conflict('SecureBootMode', 'There is no platform key: reset the keys to their default first.')
  await firmware.setSecureBoot(wanted)
}

async function resetKeys({ machine, body }: MachineCall): Promise<void> {
  checkAction('SecureBoot.ResetKeys', body, { ResetKeysType: oneOf(RESETS) }, ['ResetKeysType'])
  const type = body['ResetKeysType'] as (typeof RESETS)[number]
  const { firmware } = machine
  if (type === 'ResetAllKeysToDefault') return firmware.setEmptyKeys([])
  if (type === 'DeleteAllKeys') return firmware.setEmptyKeys(SECURE_BOOT_DATABASES)
  return firmware.setEmptyKeys([...new Set([...firmware.emptyKeys, 'PK' as const])])
}

const databaseIn = ({ params }: MachineCall): SecureBootDatabase | undefined =>
  SECURE_BOOT_DATABASES.find((each) => each === params['database'])

function databaseOf(call: MachineCall): Document | undefined {
  const id = databaseIn(call)
  if (!id) return undefined
  const own = path(call.machine, 'SecureBootDatabases', id)
  return {
    ...head('SecureBootDatabase', own, `Secure boot database ${id}`),
    DatabaseId: id,
    Actions: {
      '#SecureBootDatabase.ResetKeys': {
        target: pathOf(...own, 'Actions', 'SecureBootDatabase.ResetKeys'),
        'ResetKeysType@Redfish.AllowableValues': DATABASE_RESETS,
      },
    },
  }
}

async function resetDatabase(call: MachineCall): Promise<void> {
  const id = databaseIn(call)
  if (!id) throw refused(404, 'ResourceNotFound', ['SecureBootDatabase', call.params['database']!])
  const { machine, body } = call
  checkAction('SecureBootDatabase.ResetKeys', body, { ResetKeysType: oneOf(DATABASE_RESETS) }, ['ResetKeysType'])
  const others = machine.firmware.emptyKeys.filter((each) => each !== id)
  await machine.firmware.setEmptyKeys(body['ResetKeysType'] === 'DeleteAllKeys' ? [...others, id] : others)
}

/** Secure boot of a system and its keys; turning it on or off holds from the next boot on. */
export const SECURE_BOOT_RESOURCES: readonly Resource[] = [
  ofMachine('/Systems/{machine}/SecureBoot', {
    reads: 'read firmware',
    changes: 'change firmware',
    get: secureBootOf,
    patch: change,
  }),
  ofMachine('/Systems/{machine}/SecureBoot/Actions/SecureBoot.ResetKeys', {
    reads: 'change firmware',
    post: resetKeys,
  }),
  ofMachine('/Systems/{machine}/SecureBoot/SecureBootDatabases', {
    reads: 'read firmware',
    get: ({ machine }) => {
      const own = path(machine, 'SecureBootDatabases')
      const members = SECURE_BOOT_DATABASES.map((id) => link(...own, id))
      return collection('SecureBootDatabaseCollection', own, 'Secure Boot Databases', members)
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
