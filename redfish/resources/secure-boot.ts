import { bool, checkPatch } from '../protocol/checks.js'
import { head, type Document } from '../protocol/document.js'
import { message } from '../protocol/messages.js'
import { Refusal } from '../protocol/refusal.js'
import { ofMachine, type MachineCall, type Resource } from '../protocol/resource.js'

function secureBootOf({ machine: { spec, firmware } }: Pick<MachineCall, 'machine'>): Document {
  const path = ['Systems', spec.id, 'SecureBoot']
  return {
    ...head('SecureBoot', path, 'UEFI Secure Boot'),
    SecureBootEnable: firmware.report().secureBoot,
    SecureBootCurrentBoot: firmware.bootedSecurely ? 'Enabled' : 'Disabled',
    SecureBootMode: 'UserMode',
  }
}

/** Secure boot of a system, which a change concerns from the next boot on. */
export const SECURE_BOOT_RESOURCES: readonly Resource[] = [
  ofMachine('/Systems/{machine}/SecureBoot', {
    reads: 'read firmware',
    changes: 'change firmware',
    get: secureBootOf,
    patch: async ({ machine, body }) => {
      checkPatch(body, { SecureBootEnable: bool }, secureBootOf({ machine }))
      const wanted = body['SecureBootEnable'] as boolean
      if (wanted && machine.firmware.bootMode === 'bios')
        throw new Refusal(400, [
          message('PropertyValueConflict', ['SecureBootEnable', 'BootSourceOverrideMode'], {
            ...{ property: 'SecureBootEnable', resolution: 'Set the boot mode to UEFI first.' },
          }),
        ])
      await machine.firmware.setSecureBoot(wanted)
    },
  }),
]
