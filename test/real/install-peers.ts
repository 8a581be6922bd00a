import { fileURLToPath } from 'node:url'
import { dmtfClients, gofishProgram } from './programs/redfish/peers.js'
import { communityGeneral, dialectsGofish } from './programs/dialects/peers.js'
import { schemaCheckers } from './programs/file-schemas.js'
import { openstackClients } from './programs/clients/baremetal.js'
import { claimOperatorProgram } from './programs/controllers/claim-operator.js'
import { tempestFolder } from './programs/clients/tempest.js'
import { gophercloudProgram } from './programs/clients/gophercloud.js'
import { registryProgram } from './docker-registry.js'
import { realBinary } from './coreos-installer.js'
import { realEngine } from './programs/first-boot/engine.js'
import { realIgnition } from './programs/ignition/peer.js'
import { ipaPeer } from './ipa.js'
import { ipmitoolFolder } from './ipmitool.js'
import { ironicPeer } from './ironic.js'
import { userModeLinux } from './own-kernel.js'
import { debianProgram } from './peers.js'
import { bouncerProgram } from './pgbouncer.js'
import { postgresPrograms } from './postgres.js'
import { sshPackages } from './ssh-machine.js'
import { newUtilLinux } from './targets/filter-loaders.js'

/** Programs that several files use, with their Debian packages. */
const DEBIAN = {
  gcc: 'gcc',
  go: 'golang-go',
  python3: 'python3',
  insmod: 'kmod',
  'ssh-keygen': 'openssh-client',
  ip: 'iproute2',
  xorriso: 'xorriso',
  cpio: 'cpio',
  xz: 'xz-utils',
  curl: 'curl',
  sgdisk: 'gdisk',
  debugfs: 'e2fsprogs',
  kubectl: 'kubernetes-client',
  'fsck.vfat': 'dosfstools',
  skopeo: 'skopeo',
  mdadm: 'mdadm',
  lvcreate: 'lvm2',
  sfdisk: 'fdisk',
  'systemd-run': 'systemd',
  bwrap: 'bubblewrap',
  keyctl: 'keyutils',
  podman: 'podman',
  'qemu-aarch64-static': 'qemu-user-static',
  wget: 'wget',
}

/** Runs steps one after another, and prints the time of each that took more than two seconds. */
async function oneByOne(steps: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  for (const [name, step] of Object.entries(steps)) {
    const since = performance.now()
    await step()
    const seconds = (performance.now() - since) / 1000
    if (seconds > 2) process.stdout.write(`installed ${name} in ${seconds.toFixed(0)} s\n`)
  }
}

/**
 * Installs every real peer that is missing, so that lanes that run side by side never build one twice. Packages come
 * first; then Rust, Python and Go programs are built at the same time.
 *
 * @throws when one cannot be installed: a missing peer is a failure, never a skip
 */
export async function installPeers(): Promise<void> {
  await oneByOne({
    'Debian programs': async () => {
      for (const [program, name] of Object.entries(DEBIAN)) await debianProgram(program, name)
    },
    sshd: sshPackages,
    'User Mode Linux': userModeLinux,
    PostgreSQL: postgresPrograms,
    PgBouncer: bouncerProgram,
    'docker-registry': registryProgram,
    ipmitool: ipmitoolFolder,
    'a setpriv that loads filters': newUtilLinux,
  })
  await Promise.all([
    oneByOne({ 'coreos-installer': realBinary }),
    oneByOne({ Ironic: ironicPeer, 'ironic-python-agent': ipaPeer, 'OpenStack clients': openstackClients }),
    oneByOne({
      "DMTF's Redfish clients": dmtfClients,
      'checkers of schemas': schemaCheckers,
      tempest: tempestFolder,
      "Ansible's modules for Redfish": communityGeneral,
    }),
    oneByOne({
      Ignition: realIgnition,
      'its engine': realEngine,
      gophercloud: gophercloudProgram,
      gofish: gofishProgram,
      'gofish for all BMCs': dialectsGofish,
      'controller-runtime': claimOperatorProgram,
    }),
  ])
}

// `.ci/run` does this in the background: `npx jiti test/real/install-peers.ts`.
if (process.argv[1] === fileURLToPath(import.meta.url)) await installPeers()
