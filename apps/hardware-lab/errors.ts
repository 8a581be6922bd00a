import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    hardwareLab: typeof ERRORS
  }
}

/** Error codes of `hardware-lab/`, each with its failure and usual remedy. */
export const ERRORS = defineCatalogue({
  'bmc-certificate': {
    sentence: 'the certificate of a BMC is not the one that is expected',
    remedy: 'compare its fingerprint with the one that the BMC shows, and correct bmc.certificate',
  },
  'bmc-lacks': {
    sentence: 'a BMC does not offer what the run needs of it',
    remedy: 'boot the machine in another way with live, or look at the firmware of the BMC',
  },
  'bmc-refused': {
    sentence: 'a BMC refused a request',
    remedy: 'see its own sentence in the message',
  },
  'bmc-unreachable': {
    sentence: 'a BMC does not answer',
    remedy: 'look at its address and its network',
  },
  butane: {
    sentence: 'a Butane config cannot be translated',
    remedy: 'install butane, or name the Ignition config that it makes',
  },
  'hardware-changed': {
    sentence: 'a host has another machine or disk than in the previous run',
    remedy:
      'find out which machine answers; if the hardware was replaced on purpose, remove the file that the message names',
  },
  'hardware-unexpected': {
    sentence: 'the hardware of a host is not as the file expects it',
    remedy: 'correct expect in the file, or the machine',
  },
  'hosts-file': {
    sentence: 'a file of hosts cannot be used',
    remedy: 'correct what the message names; ironstage run init writes a file that is right',
  },
  'hosts-secret': {
    sentence: 'a password or key that the hosts file names cannot be read',
    remedy: 'set the variable, or name a file that this user may read',
  },
  ipmitool: {
    sentence: 'ipmitool failed or is not installed',
    remedy: 'install ipmitool, or name a Redfish address',
  },
  'ironic-failed': {
    sentence: "a host's node ended in a failed state",
    remedy: 'see the sentence of the Ironic in the message',
  },
  'ironic-node': {
    sentence: 'the Ironic already has a node with the name of a host, and no run registered it',
    remedy: 'name another with ironic: {node: NAME}, or remove it there',
  },
  'outcome-unknown': {
    sentence: 'a program that a run had started may have changed the disk, and its outcome is lost',
    remedy: 'look at the host, then begin a new run of it',
  },
  'post-check': {
    sentence: 'a command on the installed system did not print or end as expected',
    remedy: 'see what it printed in the message',
  },
  'run-options': {
    sentence: 'the options of a run contradict each other',
    remedy: 'change the option that the message names',
  },
  'run-state': {
    sentence: 'the state folder of a run cannot be used',
    remedy: 'name another folder with --state-dir',
  },
  'stage-timeout': {
    sentence: 'a stage of a run took longer than its limit',
    remedy: 'look at the host, or raise the limit under stages',
  },
})
