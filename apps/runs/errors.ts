import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    runs: typeof ERRORS
  }
}

/** Error codes of `runs/`, each with its failure and usual remedy. */
export const ERRORS = defineCatalogue({
  'agent-option-file': {
    sentence: 'a file named by an agent option cannot be read',
    remedy: 'name a PEM file that you can read',
  },
  'bad-step-arguments': {
    sentence: 'the step refuses the arguments',
    remedy: 'run ironstage step show NAME',
  },
  'boot-image-ignition': {
    sentence: 'images of that format take no Ignition config',
    remedy: 'generate baremetal-iso or baremetal-pxe, or give the config to the machine',
  },
  'boot-nonce': {
    sentence: 'the Ignition config replaces itself, so nothing can be added to it',
    remedy: 'use ignition.config.merge, or leave out --verify-boot',
  },
  'image-transcoded': {
    sentence: 'the cache has the image only in another format',
    remedy: 'name another folder with --cache-dir, or use --no-cache',
  },
  'ironic-refused': {
    sentence: 'Ironic refused a request',
    remedy: "see Ironic's answer in the message",
  },
  'ironic-unreachable': {
    sentence: 'no Ironic answers at the URL',
    remedy: 'start one with ironstage up, or correct --ironic-url',
  },
  'machine-busy': {
    sentence: 'the machine runs its installed system, so no step can run on it',
    remedy: 'power it off, or run the step on a new machine',
  },
  'metadata-file': {
    sentence: 'the file with stream metadata cannot be read',
    remedy: 'name a file that you can read',
  },
  'no-agent': {
    sentence: 'the agent of the deployment does not start on the target',
    remedy: 'see the cause; ironstage doctor shows what this host lacks',
  },
  'no-disk-file': {
    sentence: 'the disk of the machine is not a file',
    remedy: 'deploy a machine whose disk is a file',
  },
  'no-home': {
    sentence: 'the home folder, where SSH keeps its known hosts, is unknown',
    remedy: 'set HOME',
  },
  'no-machine': {
    sentence: 'the state folder has no such machine',
    remedy: 'choose one that the message lists',
  },
  'no-step': {
    sentence: 'there is no step with this name',
    remedy: 'choose one that the message lists, or load more with --steps FILE',
  },
  'not-rebooted': {
    sentence: 'the target did not reboot',
    remedy: 'find out why its system does not shut down; the disk is installed',
  },
  'step-failed': {
    sentence: 'the step failed',
    remedy: 'see the cause',
  },
  'steps-file': {
    sentence: 'a step file cannot be loaded',
    remedy: 'correct what the message names',
  },
  target: {
    sentence: 'the target or its disk is not named correctly',
    remedy: 'use --target, and --device SERIAL, WWN or BY-ID-NAME',
  },
  'verify-boot': {
    sentence: 'the first boot of the target cannot be verified with these options',
    remedy: 'change the option that the message names, or leave out --verify-boot',
  },
})
