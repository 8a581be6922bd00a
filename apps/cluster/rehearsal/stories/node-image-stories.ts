import type { Scenario } from '../scenario.js'
import { NODE_A, NODE_B } from './release-stories.js'

/** Stories of document 003: disk images without the cluster's programs, and the node image that brings them. */
export const NODE_IMAGE_STORIES: readonly Scenario[] = [
  {
    name: 'base-image',
    title: 'A base image becomes the node image at first boot; a running node is upgraded',
    document: '003',
    releases: { A: NODE_A, B: NODE_B },
    cluster: { release: 'A', controlPlane: 1, workers: 1 },
    steps: [
      { expect: { runs: 'A', of: 'nodes' } },
      { expect: { reboots: 1, of: 'workers', since: 'installation' } },
      { upgrade: 'B' },
      { wait: 'upgrade' },
      { wait: 'nodes' },
      { expect: { runs: 'B', of: 'nodes' } },
      { expect: { reboots: 1, of: 'workers', since: 'upgrade' } },
    ],
  },
  {
    name: 'shared-base',
    title: 'Two releases share a base image, and its disk image is fetched once',
    as: 'document',
    document: '003',
    releases: { A: NODE_A, B: NODE_B },
    cluster: { release: 'A', workers: 1, spares: 1 },
    steps: [
      { upgrade: 'B' },
      { wait: 'upgrade' },
      { scale: 2 },
      { wait: 'nodes' },
      { expect: { runs: 'B', of: 'workers' } },
      { expect: { pulled: 'base', of: 'B', times: 1 }, document: '003' },
    ],
  },
  {
    name: 'bootstrap-node',
    title: 'The bootstrap node also switches to the node image, before its kubelet starts',
    document: '003',
    releases: { A: NODE_A },
    cluster: { release: 'A' },
    steps: [
      { bootstrap: 'A' },
      { expect: { runs: 'A', of: 'bootstrap' } },
      { expect: { reboots: 1, of: 'bootstrap', since: 'installation' } },
    ],
  },
  {
    name: 'okd',
    title: 'OKD: Fedora CoreOS becomes the node image',
    as: 'document',
    document: '003',
    releases: {
      A: { version: '4.15.0-0.okd', coreos: '39.20240101.3.0', base: '39.20231204.3.3', family: 'fcos' },
      B: { version: '4.16.0-0.okd', coreos: '40.20240616.3.0', base: '40.20240602.3.0', family: 'fcos' },
    },
    cluster: { release: 'A', workers: 1, spares: 2 },
    steps: [
      { upgrade: 'B' },
      { wait: 'upgrade' },
      { wait: 'nodes' },
      { scale: 2 },
      { wait: 'nodes' },
      { expect: { runs: 'B', of: 'workers' } },
      { expect: { installedFrom: 'B', of: 'workers', index: 1 } },
      { expect: { deployImage: 'B', of: 'spares' }, document: '000' },
    ],
  },
  {
    name: 'failed-pull',
    title: 'A node image that cannot be pulled stops the upgrade, and no node is lost',
    document: '003',
    releases: { A: NODE_A, B: { ...NODE_B, damaged: 'node-image' } },
    cluster: { release: 'A', controlPlane: 1, workers: 1 },
    steps: [
      { upgrade: 'B' },
      { wait: 'upgrade', within: '1h' },
      { expect: { degraded: 'nodes', because: 'digest' } },
      { expect: { runs: 'A', of: 'nodes' } },
      { expect: { upgrade: 'failing' } },
    ],
  },
  {
    name: 'config-drift',
    title: 'A node whose files are changed by hand is degraded and names the file',
    document: '003',
    releases: { A: NODE_A, B: NODE_B },
    cluster: { release: 'A', workers: 1 },
    steps: [
      { tamper: 'workers', path: '/etc/crio/crio.conf.d/00-default', text: 'changed' },
      { wait: 'pools', within: '1h' },
      { expect: { degraded: 'workers', because: '/etc/crio/crio.conf.d/00-default' } },
    ],
  },
]
