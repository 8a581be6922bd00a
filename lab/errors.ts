import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    lab: typeof ERRORS
  }
}

/** The codes of `lab/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'agent-address': {
    sentence: 'the address at which Ironic can reach the agent is unknown',
    remedy: 'set it with advertise_host',
  },
  'bmc-address': {
    sentence: 'the BMC address is neither a host nor a URL',
    remedy: 'write it as in redfish-virtualmedia+https://10.0.0.1/redfish/v1/Systems/1',
  },
  'bmc-refuses': {
    sentence: 'the BMC has no such function, or refuses it',
    remedy: "name another BMC in the machine's hardware: docs/bmc-dialects.md lists them",
  },
  'clock-fixed': {
    sentence: 'the clock of this lab cannot be set',
    remedy: 'create the lab with its own clock',
  },
  disposed: {
    sentence: 'the lab has been disposed of',
    remedy: 'wait for its nodes before you dispose of the lab',
  },
  'fork-limit': {
    sentence: 'the lab has reached its limit of forks',
    remedy: 'end a fork: GET /_lab/forks lists them',
  },
  'ignition-fetch': {
    sentence: 'a resource of the Ignition config could not be fetched',
    remedy: 'check the URL and the network to it',
  },
  'lab-argument': {
    sentence: 'an argument of `createLab` or of a method of its lab is wrong',
    remedy: 'correct what the message names; docs/in-a-test.md shows the options',
  },
  'locked-folder': {
    sentence: 'another ironstage uses the state folder',
    remedy: 'stop it, or name another folder with --state-dir',
  },
  'machine-removed': {
    sentence: 'the machine has been removed',
    remedy: "get the node's machine again",
  },
  'machines-elsewhere': {
    sentence: 'the machines of this lab are elsewhere, and it can neither make them nor set them back',
    remedy: 'change them where they are: with the control API of their fleet',
  },
  'method-not-allowed': {
    sentence: 'the control API does not support this method on this path',
    remedy: 'use one that the message names',
  },
  'no-bmc': {
    sentence: 'the machine has no BMC, so Ironic cannot power it on',
    remedy: 'give the machine a BMC',
  },
  'no-live-image': {
    sentence: 'no live image is served for the node',
    remedy: 'start ironstage with --live-iso or --live-image',
  },
  'no-recordings': {
    sentence: 'only `ironstage up` makes recordings of its lab and replays them',
    remedy: 'record it with ironstage record, and replay with ironstage replay',
  },
  'no-run': {
    sentence: 'the server does not belong to `ironstage run`',
    remedy: 'use the URL that ironstage run prints',
  },
  'no-such-fault': {
    sentence: 'there is no such fault',
    remedy: 'GET /_lab/faults lists them',
  },
  'no-such-file': {
    sentence: 'there is no such file on the machine',
    remedy: 'leave out the path to list all files',
  },
  'no-such-fork': {
    sentence: 'the lab has no such fork',
    remedy: 'GET /_lab/forks lists them',
  },
  'no-such-machine': {
    sentence: 'there is no such machine, or the node has no machine yet',
    remedy: 'GET /_lab/machines lists them',
  },
  'no-such-node': {
    sentence: 'there is no such node',
    remedy: 'GET /_lab/nodes lists them',
  },
  'no-such-path': {
    sentence: 'the control API has no such path',
    remedy: 'GET /_lab lists all paths',
  },
  'no-system': {
    sentence: 'the machine has not booted an installed system',
    remedy: 'deploy the node and wait for active',
  },
  'not-across-threads': {
    sentence: 'a threaded lab accepts only data, not objects that belong to one thread',
    remedy: 'leave out the option that the message names, or create a lab without threads',
  },
  'not-deployable': {
    sentence: 'the node cannot become available from its state',
    remedy: 'bring the node to available first',
  },
  'not-in-a-fleet': {
    sentence: 'a fleet without its own Ironic cannot do this',
    remedy: 'use the Ironic that manages the machines',
  },
  'not-loopback': {
    sentence: 'the API can be reached from other hosts and has no passwords',
    remedy: 'listen on 127.0.0.1, or require passwords with --htpasswd',
  },
  'not-reached': {
    sentence: 'the node did not reach the state within the time limit',
    remedy: 'see its journal for the reason',
  },
  'shard-failed': {
    sentence: 'an uncaught error has ended a shard of a threaded lab, or a whole thread',
    remedy: 'deploy one of its nodes in a lab without threads to see where the error is thrown',
  },
  'snapshot-busy': {
    sentence: 'no snapshot can be taken now: work that cannot be repeated is in progress',
    remedy: 'wait until no work is in progress, then take the snapshot',
  },
  'snapshot-diverged': {
    sentence: 'repeating the calls before the snapshot led to a different state',
    remedy: 'make your own steps and listeners deterministic, or take snapshots at rest',
  },
  'snapshot-file': {
    sentence: 'the file is not a snapshot, is damaged, or has another format version',
    remedy: 'export the snapshot again with this version of ironstage',
  },
  'snapshot-options': {
    sentence: 'the snapshot is from a lab with different options',
    remedy: 'create a lab with the options that the message names',
  },
  'snapshot-restored': {
    sentence: 'the lab was restored to a snapshot before it answered the call',
    remedy: 'repeat the call',
  },
  'snapshot-unknown': {
    sentence: 'there is no snapshot with this name',
    remedy: 'choose one that the message names',
  },
  'snapshot-unsupported': {
    sentence: 'this kind of lab does not support such snapshots',
    remedy: 'docs/in-a-test.md says which labs do',
  },
  'thread-count': {
    sentence: 'the number of threads is not a positive integer',
    remedy: 'use as many threads as there are spare processors',
  },
  'two-databases': {
    sentence: 'the state folder has a database of its own, beside that of --database',
    remedy: 'name another --state-dir, or leave out --database to go on with that of the folder',
  },
})
