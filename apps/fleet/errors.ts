import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    fleet: typeof ERRORS
  }
}

/** The codes of `fleet/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'fleet-account': {
    sentence: 'no client could sign in with the account of the BMCs',
    remedy: 'use another name or password, or leave IPMI out',
  },
  'fleet-address': {
    sentence: 'the address at which an Ironic reaches the fleet is not known, or not safe',
    remedy: 'name it with --advertise, and give the BMCs a password with --password-file',
  },
  'fleet-enroll': {
    sentence: 'the Ironic refused to enroll a machine of the fleet',
    remedy: "correct what Ironic's answer in the message names",
  },
  'hosts-out': {
    sentence: 'the list of machines cannot be written',
    remedy: 'name a file that ends with .json, .yaml or .csv in a folder that you may write to',
  },
  notification: {
    sentence: 'the notification of a power change cannot be read',
    remedy: 'send a system as the fake driver of sushy-tools does',
  },
  'ramdisk-file': {
    sentence: "the agent's options name a file that its ramdisk lacks",
    remedy: 'put it on the medium or into the Ignition config, or leave out the option',
  },
  'systems-file': {
    sentence: 'the list of systems cannot be used',
    remedy: 'correct what the message names: docs/fleet.md says what a list of systems has',
  },
})
