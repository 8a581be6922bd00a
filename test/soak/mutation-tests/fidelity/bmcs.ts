import { fidelityMutants } from './fidelity-mutant.js'

const SESSIONS = { file: 'bmc/ipmi/session/ipmi-sessions.ts' }
const USERS = { file: 'bmc/ipmi/commands/user-commands.ts' }
const UPDATE = { file: 'bmc/redfish/resources/update-resources.ts' }

/** Rows of IPMI. */
export const IPMI_MUTANTS = fidelityMutants('ipmi', [
  {
    row: 'Cipher suites 0 to 3',
    does: 'opens a session with any',
    file: 'bmc/ipmi/session/rakp.ts',
    from: 'const fits = (wanted: number | undefined, own: number): boolean => wanted === undefined || wanted === own',
    to: 'const fits = (wanted: number | undefined, own: number): boolean => wanted !== -own',
  },
  {
    ...SESSIONS,
    row: 'A BMC has a factory account',
    does: 'lets an unknown user in',
    from: 'if (!key) return rakpRefusal(tag, RAKP_STATUS.unauthorizedName, remote)',
    to: 'if (!key) return rakpRefusal(tag, RAKP_STATUS.insufficientResources, remote)',
  },
  {
    ...USERS,
    row: 'Up to 63 users',
    does: 'disables the one',
    from: '      throw new IpmiCommandError(COMPLETION.notInPresentState)\n    case 1:',
    to: '      return\n    case 1:',
  },
  {
    row: 'Boot flags without the EFI bit',
    does: 'boots in legacy mode',
    file: 'bmc/ipmi/commands/boot-option-commands.ts',
    from: "if (isValid && (flags[0]! & EFI) !== 0 && firmware.bootMode === 'bios') await firmware.setBootMode('uefi')",
    to: "if (isValid) await firmware.setBootMode((flags[0]! & EFI) !== 0 ? 'uefi' : 'bios')",
  },
  {
    row: 'The event log has all',
    does: 'has media too',
    file: 'bmc/ipmi/commands/sel-commands.ts',
    from: "'media inserted': undefined",
    to: "'media inserted': { sensor: boot, offset: 6 }",
  },
  {
    row: 'Input on the serial console',
    does: 'takes no notice of it',
    file: 'bmc/ipmi/sol/serial-console.ts',
    from: 'if (sequence !== 0)',
    to: 'if (sequence > 99)',
  },
  {
    row: 'A power restore policy decides',
    does: 'forgets it',
    file: 'bmc/ipmi/commands/chassis-commands.ts',
    from: 'if (number < 3) await machine',
    to: 'if (number > 3) await machine',
  },
  {
    row: 'Many BMCs still open sessions',
    does: 'offers IPMI 1.5 too',
    file: 'bmc/ipmi/commands/app-commands.ts',
    from: '0x04, asksFor20 ? 0x02 : 0, 0, 0, 0, 0]',
    to: '0x04, asksFor20 ? 0x03 : 0x01, 0, 0, 0, 0]',
  },
  {
    row: 'Sensors show what is measured',
    does: 'shows a machine that is on',
    file: 'machine/hardware/sensors.ts',
    from: "const isOn = power === 'on'",
    to: "const isOn = power !== 'error'",
  },
  {
    row: 'Watchdog, event filters, writing to SEL',
    does: 'knows every command',
    file: 'bmc/ipmi/lan-bmc.ts',
    from: 'if (!command) return COMPLETION.invalidCommand',
    to: 'if (!command) return 0x00',
  },
  {
    row: 'A cold reset takes the BMC off',
    does: 'keeps its sessions',
    file: 'bmc/ipmi/commands/app-commands.ts',
    from: '      sessions.closeAll()\n      memory.forget()\n',
    to: '      memory.forget()\n',
  },
])

/** Rows of Redfish. */
export const REDFISH_MUTANTS = fidelityMutants('redfish', [
  {
    ...UPDATE,
    row: 'An update is downloaded and checked',
    does: 'takes any image for one of the BMC',
    from: "? 'bmc' : 'bios'",
    to: "? 'bmc' : 'bmc'",
  },
  {
    row: 'Some BMCs insert an image of any URL',
    does: 'inserts any',
    file: 'bmc/redfish/protocol/value-checks.ts',
    from: "const FETCHED = new RegExp(`^(?:${FETCHED_PROTOCOLS.join('|')}):`, 'i')",
    to: "const FETCHED = new RegExp(`^[^]*`, 'i')",
  },
  {
    row: 'An iDRAC takes and gives a whole system',
    does: 'takes any attribute',
    file: 'bmc/redfish/idrac/system-configuration.ts',
    from: '      else throw new Error(`the component ${fqdd} has no attribute ${name} that can be imported`)\n',
    to: '',
  },
  {
    row: 'Accounts are added, and have one of several roles',
    does: 'has another role',
    file: 'bmc/redfish/resources/account-resources.ts',
    from: "    RoleId: 'Administrator',\n",
    to: "    RoleId: 'Operator',\n",
  },
  {
    row: 'Each has an address of its own',
    does: 'lets any account in everywhere',
    file: 'bmc/redfish/access/authenticate.ts',
    from: 'machine ? service.accounts.admits(machine, caller) : opensAny(service, caller)',
    to: 'machine ? opensAny(service, caller) : opensAny(service, caller)',
  },
  {
    row: 'A volume becomes a disk of the system',
    does: 'is shown in place of the disks',
    file: 'machine/hardware/machine-firmware.ts',
    from: '    this.#state.volumes = volumes.map((each) => ({ ...each }))\n',
    to: '    this.#state.volumes = volumes.map((each) => ({ ...each }))\n    Object.assign(this.#spec, { disks: this.#spec.disks.slice(0, 1) })\n',
  },
  {
    row: 'The BMC of every vendor has parts of its own',
    does: 'has those of Dell everywhere',
    file: 'bmc/redfish/idrac/idrac-service.ts',
    from: '  isDell(machine.spec) ? parts : {}\n',
    to: '  isDell(machine.spec) || machine.spec ? parts : {}\n',
  },
  {
    row: 'A system has the id of its maker',
    does: 'names the first machine by it',
    file: 'bmc/redfish/dialects/bmc-paths.ts',
    from: '      if (found) return undefined\n',
    to: '      if (found) return found\n',
  },
  {
    row: 'An iDRAC 9 has other slots below its system',
    does: 'gives the slot of the manager another drive',
    file: 'bmc/dialects/records/idrac9.ts',
    from: "id: 'CD', name: 'Virtual CD', drive: 'cdrom'",
    to: "id: 'CD', name: 'Virtual CD', drive: 'floppy'",
  },
  {
    row: 'Boot options and their order follow the firmware',
    does: 'takes an order of options that there are not',
    file: 'bmc/redfish/resources/boot-resources.ts',
    from: 'const order = dialect.dump === null ?',
    to: 'const order = dialect.dump !== undefined ?',
  },
  {
    row: 'All actions that a BMC lists',
    does: 'swallows another one',
    file: 'bmc/redfish/dumps/dumped-route.ts',
    from: "    throw messageRefusal(400, 'ActionNotSupported'",
    to: "    messageRefusal(400, 'ActionNotSupported'",
  },
  {
    row: 'A BMC has several logs',
    does: 'shows the entries of the dump',
    file: 'bmc/redfish/dumps/live-properties.ts',
    from: "  '/Systems/{machine}/LogServices/{log}/Entries': properties(...MEMBERS),\n",
    to: '',
  },
])
