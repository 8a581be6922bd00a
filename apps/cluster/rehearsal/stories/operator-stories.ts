import type { Scenario } from '../scenario.js'
import { A, B, NODE_A, NODE_B } from './release-stories.js'

const C = { version: '4.16.0', coreos: '416.94.202406251923-0' }

/** Stories of the operators that bring a release to the nodes: what the upgrades of all documents rely on. */
export const OPERATOR_STORIES: readonly Scenario[] = [
  {
    name: 'held-upgrade',
    title: 'An operator that cannot be updated stops the upgrade before any node is rebooted',
    as: 'document',
    document: '000',
    releases: { A, B: { ...B, damaged: 'image-service' } },
    cluster: { release: 'A', controlPlane: 1, workers: 1 },
    steps: [
      { upgrade: 'B' },
      { wait: 'upgrade', within: '2h' },
      { expect: { upgrade: 'failing', because: 'baremetal' }, document: '000' },
      { expect: { reboots: 0, of: 'nodes', since: 'upgrade' }, document: '000' },
      { expect: { runs: 'A', of: 'nodes' } },
    ],
  },
  {
    name: 'wrong-release-image',
    title: 'A release image with another version than requested is refused',
    document: '000',
    releases: { A, B, C },
    cluster: { release: 'A', workers: 1 },
    steps: [
      { upgrade: 'B', image: 'C' },
      { wait: 'nodes', within: '1h' },
      { expect: { upgrade: 'refused', because: 'does not match' } },
      { expect: { runs: 'A', of: 'workers' } },
    ],
  },
  {
    name: 'one-node-at-a-time',
    title: 'Nodes are drained and rebooted one at a time',
    document: '003',
    releases: { A: NODE_A, B: NODE_B },
    cluster: { release: 'A', controlPlane: 3, workers: 2 },
    steps: [
      { upgrade: 'B' },
      { wait: 'upgrade' },
      { wait: 'nodes' },
      { expect: { runs: 'B', of: 'nodes' } },
      { expect: { away: 1, of: 'control plane' } },
      { expect: { away: 1, of: 'workers' } },
      { expect: { workloads: 'moved' } },
    ],
  },
  {
    name: 'paused-pool',
    title: 'Workers in a paused pool stay unchanged until it is resumed',
    document: '003',
    releases: { A: NODE_A, B: NODE_B },
    cluster: { release: 'A', controlPlane: 1, workers: 1 },
    steps: [
      { pause: 'workers' },
      { upgrade: 'B' },
      { wait: 'upgrade' },
      { expect: { runs: 'B', of: 'control plane' } },
      { expect: { reboots: 0, of: 'workers', since: 'upgrade' } },
      { resume: 'workers' },
      { wait: 'nodes' },
      { expect: { runs: 'B', of: 'nodes' } },
    ],
  },
  {
    name: 'registry-away',
    title: 'A registry failure of a minute delays a node but does not lose it',
    document: '003',
    releases: { A: NODE_A, B: NODE_B },
    cluster: { release: 'A', workers: 1 },
    steps: [
      { failPulls: 3, of: 'B' },
      { upgrade: 'B' },
      { wait: 'upgrade' },
      { wait: 'nodes' },
      { expect: { runs: 'B', of: 'workers' } },
    ],
  },
  {
    name: 'full-boot-partition',
    title: 'A node that comes back in its old system does not count as updated',
    document: '003',
    releases: { A: NODE_A, B: NODE_B },
    cluster: { release: 'A', workers: 1 },
    steps: [
      { fill: '/boot', of: 'workers' },
      { upgrade: 'B' },
      { wait: 'upgrade' },
      { wait: 'pools', within: '2h' },
      { expect: { runs: 'A', of: 'workers' } },
      { expect: { degraded: 'workers', because: 'expected target osImageURL' } },
    ],
  },
]
