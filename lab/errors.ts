import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    lab: typeof ERRORS
  }
}

/** The codes of `lab/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'agent-address': {
    sentence: 'the address at which Ironic reaches the agent is not known',
    remedy: 'name it with advertise_host',
  },
  'bad-request': {
    sentence: 'the request to the control API is not valid',
    remedy: 'correct what the message names; /_lab/openapi describes all calls',
  },
  'bmc-address': {
    sentence: 'the BMC address is neither a host nor a URL',
    remedy: 'write it as in redfish-virtualmedia+https://10.0.0.1/redfish/v1/Systems/1',
  },
  'clock-fixed': {
    sentence: 'the time of this lab cannot be moved or set',
    remedy: 'make the lab with a clock of its own',
  },
  disposed: {
    sentence: 'the lab has been disposed of',
    remedy: 'wait for its nodes before the lab is disposed of',
  },
  fault: {
    sentence: 'the description of a fault is not valid',
    remedy: 'correct what the message names',
  },
  'fork-limit': {
    sentence: 'the lab has reached its limit of forks',
    remedy: 'end one: GET /_lab/forks lists them',
  },
  'ignition-fetch': {
    sentence: 'a resource of the Ignition config could not be fetched',
    remedy: 'check the URL and the network to it',
  },
  'locked-folder': {
    sentence: 'another ironstage uses the state folder',
    remedy: 'stop that one, or name another folder with --state-dir',
  },
  'machine-removed': {
    sentence: 'the machine has been removed',
    remedy: 'ask the node for its machine again',
  },
  'method-not-allowed': {
    sentence: 'the method is not possible at this path of the control API',
    remedy: 'use one that the message names',
  },
  'no-bmc': {
    sentence: 'the machine has no BMC, so Ironic cannot switch it on',
    remedy: 'give the machine a BMC',
  },
  'no-lab': {
    sentence: 'the URL is not that of an ironstage, so the disks of its machines cannot be found',
    remedy: 'deploy through an ironstage of this version',
  },
  'no-live-image': {
    sentence: 'no live image is served for the node',
    remedy: 'start ironstage with --live-iso or --live-image',
  },
  'no-run': {
    sentence: 'the server does not belong to `ironstage run`',
    remedy: 'ask the URL that ironstage run prints',
  },
  'no-such-fault': {
    sentence: 'there is no such fault',
    remedy: 'GET /_lab/faults lists them',
  },
  'no-such-file': {
    sentence: 'there is no such file on the machine',
    remedy: 'leave out the path for a list of all files',
  },
  'no-such-fork': {
    sentence: 'the lab has no such fork',
    remedy: 'GET /_lab/forks lists them',
  },
  'no-such-machine': {
    sentence: 'there is no such machine, or the node has none yet',
    remedy: 'GET /_lab/machines lists them',
  },
  'no-such-node': {
    sentence: 'there is no such node',
    remedy: 'GET /_lab/nodes lists them',
  },
  'no-such-path': {
    sentence: 'the control API has no such path',
    remedy: 'GET /_lab lists what there is',
  },
  'no-system': {
    sentence: 'the machine has not booted an installed system',
    remedy: 'deploy its node, and wait for active',
  },
  'not-across-threads': {
    sentence: 'a lab in several threads takes data only, and has no part that belongs to one thread',
    remedy: 'leave out what the message names, or make a lab without threads',
  },
  'not-deployable': {
    sentence: "the node's state does not lead to available",
    remedy: 'bring the node to available first',
  },
  'not-in-a-fleet': {
    sentence: 'machines without an Ironic of their own cannot do this',
    remedy: 'ask the Ironic that they belong to',
  },
  'not-loopback': {
    sentence: 'the API can be reached from other hosts and has no passwords',
    remedy: 'listen on 127.0.0.1, or ask for passwords with --htpasswd',
  },
  'not-reached': {
    sentence: 'the time limit passed before the node reached the state',
    remedy: 'look at its journal for the reason',
  },
  'shard-failed': {
    sentence: 'an error that nothing caught has ended a part of a lab in several threads, or a whole thread',
    remedy: 'deploy one of its nodes in a lab without threads, to see the error where it is thrown',
  },
  'snapshot-busy': {
    sentence: 'no snapshot can be taken now: the lab is at work on something that it could not repeat',
    remedy: 'wait until nothing is under way, and take it then',
  },
  'snapshot-diverged': {
    sentence: 'repeating the calls before the snapshot led to a different state',
    remedy: 'let steps and listeners of your own do the same each time, or take snapshots at rest',
  },
  'snapshot-file': {
    sentence: 'the file is not a snapshot, is damaged, or is of another version of the format',
    remedy: 'export the snapshot again, with this version of ironstage',
  },
  'snapshot-options': {
    sentence: 'the snapshot in the file is of a lab with other options',
    remedy: 'make a lab with the options that the message names',
  },
  'snapshot-restored': {
    sentence: 'the lab went back to a snapshot before it had answered the call',
    remedy: 'make the call again',
  },
  'snapshot-unknown': {
    sentence: 'there is no snapshot of this name',
    remedy: 'use one of those that the message names',
  },
  'snapshot-unsupported': {
    sentence: 'a lab of this kind has no such snapshots',
    remedy: 'see in docs/in-a-test.md which labs do',
  },
  'thread-count': {
    sentence: 'the number of threads is not a whole number from 1',
    remedy: 'give as many threads as there are processors to spare',
  },
})
