import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    hardwareLab: typeof ERRORS
  }
}

/** Error codes of `hardware-lab/`, each with its failure and usual remedy. */
export const ERRORS = defineCatalogue({
  'bmc-certificate': {
    sentence: "a BMC's certificate differs from the expected one",
    remedy: "compare its fingerprint with the BMC's, and correct bmc.certificate",
  },
  'bmc-lacks': {
    sentence: 'a BMC lacks a feature that the run needs',
    remedy: 'boot the machine another way with live, or update the BMC firmware',
  },
  'bmc-refused': {
    sentence: 'a BMC refused a request',
    remedy: "see the BMC's answer in the message",
  },
  'bmc-unreachable': {
    sentence: 'a BMC does not answer',
    remedy: 'check its address and network',
  },
  butane: {
    sentence: 'a Butane config cannot be translated',
    remedy: 'install butane, or name the translated Ignition config',
  },
  'hardware-changed': {
    sentence: 'a host has a different machine or disk than in the previous run',
    remedy: 'find out which machine answers; if you replaced the hardware, remove the file that the message names',
  },
  'hardware-unexpected': {
    sentence: "a host's hardware does not match the hosts file",
    remedy: 'correct expect in the file, or change the machine',
  },
  'hosts-file': {
    sentence: 'the hosts file cannot be used',
    remedy: 'correct what the message names; ironstage run init writes a valid file',
  },
  'hosts-secret': {
    sentence: 'a password or key that the hosts file names cannot be read',
    remedy: 'set the variable, or name a file that you can read',
  },
  ipmitool: {
    sentence: 'ipmitool failed or is not installed',
    remedy: 'install ipmitool, or name a Redfish address',
  },
  'ironic-failed': {
    sentence: "a host's node ended in a failed state",
    remedy: "see Ironic's error in the message",
  },
  'ironic-node': {
    sentence: "Ironic already has a node with a host's name that no run has registered",
    remedy: 'set another name with ironic: {node: NAME}, or delete the node',
  },
  'outcome-unknown': {
    sentence: 'the outcome of a program that may have changed the disk is lost',
    remedy: 'check the host, then start a new run for it',
  },
  'post-check': {
    sentence: 'a command on the installed system did not have the expected output or exit code',
    remedy: 'see its output in the message',
  },
  'run-options': {
    sentence: 'the options of the run contradict each other',
    remedy: 'change the option that the message names',
  },
  'run-state': {
    sentence: 'the state folder of a run cannot be used',
    remedy: 'name another folder with --state-dir',
  },
  'stage-timeout': {
    sentence: 'a stage of the run exceeded its time limit',
    remedy: 'check the host, or raise the limit under stages',
  },
})
