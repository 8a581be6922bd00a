import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    fleet: typeof ERRORS
  }
}

/** The codes of `fleet/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'fleet-account': {
    sentence: 'no client could log in with the BMC account',
    remedy: 'use another name or password, or leave IPMI out',
  },
  'fleet-address': {
    sentence: 'the address at which Ironic can reach the fleet is unknown or insecure',
    remedy: 'set it with --advertise, and give the BMCs a password with --password-file',
  },
  'fleet-enroll': {
    sentence: 'Ironic refused to enroll a machine of the fleet',
    remedy: "correct what Ironic's answer in the message names",
  },
  'fleet-names': {
    sentence: "a machine of the fleet has the name or a MAC address of another fleet's in Ironic",
    remedy:
      'give each fleet names of its own: --name-prefix rack-a-; if it is the same fleet at a new address, write that into driver_info of its nodes',
  },
  'hosts-out': {
    sentence: 'the list of machines cannot be written',
    remedy: 'name a .json, .yaml or .csv file in a writable folder',
  },
  notification: {
    sentence: 'the notification of a power change cannot be read',
    remedy: "send a system in the format of sushy-tools' fake driver",
  },
  'ramdisk-file': {
    sentence: 'an agent option names a file that its ramdisk lacks',
    remedy: 'add it to the medium or the Ignition config, or leave out the option',
  },
  'systems-file': {
    sentence: 'the list of systems cannot be used',
    remedy: 'correct what the message names; docs/fleet.md describes the format',
  },
})
