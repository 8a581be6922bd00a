import type { Mutant } from './mutant.js'

const RELEASE = { file: 'coreos/releases/release-image.ts', test: 'coreos/releases/release-image.test.ts' }
const BOOT = { ...RELEASE, file: 'coreos/metadata/boot-image.ts' }
const CONVERT = { file: 'coreos/metadata/meta-to-release.ts', test: 'coreos/metadata/convert.test.ts' }
const VERSIONS = { file: 'coreos/metadata/versions.ts', test: 'coreos/metadata/versions.test.ts' }
const SHELF = { file: 'coreos/metadata/stream-folder.ts', test: 'coreos/metadata/stream-folder.test.ts' }

/** Streams, builds and boot images. */
export const METADATA_MUTANTS: readonly Mutant[] = [
  {
    ...{ ...RELEASE, row: '001 "inject the current coreos-assembler', does: 'puts the build at another place' },
    ...{ from: "const BOOT_IMAGE = 'bootimage.json'", to: "const BOOT_IMAGE = 'meta.json'" },
    file: 'coreos/releases/release-files.ts',
    title: 'is the build metadata, for each architecture, at its place',
  },
  {
    ...{ ...RELEASE, row: '001 `bootimage.json` has a form', does: 'writes builds unchecked' },
    ...{ from: 'documentText(BUILD_META.check(build, path))', to: 'documentText(build)' },
    title: 'a build that does not match the schema is not written, and is refused when it is read',
  },
  {
    ...{ ...BOOT, row: '001 "`metal`, `openstack`, `qemu`', does: 'gives OpenStack the image of QEMU' },
    ...{ from: "openstack: ['openstack',", to: "openstack: ['qemu'," },
    title: 'row 13: sources of a boot image',
  },
  {
    ...{ ...BOOT, row: '001 "`aws-snapshot` to handle', does: 'takes another format' },
    ...{ from: "['aws', ['vmdk.xz', 'vmdk.gz', 'vmdk']]", to: "['aws', ['raw.gz']]" },
    title: 'the boot image of aws-snapshot is vmdk.gz',
  },
  {
    ...{ ...BOOT, row: '001 "data similar to the aws rhcos.json', does: 'names the AMIs otherwise' },
    ...{ from: '[region, { hvm: image }]', to: "[region, { hvm: image.replace('ami', 'snap') }]" },
    ...{ test: 'test/cli/machine-os.test.ts', title: 'aws: AMIs for installations by hand' },
  },
  {
    ...{ ...RELEASE, row: "001 \"two 'sources of truth'", does: 'is silent about drift' },
    ...{ from: 'built && mapped ? drift(built, mapped) : []', to: 'built && mapped ? [] : []' },
    ...{ test: 'test/cli/machine-os.test.ts' },
    title: 'info prints what is in a release; two sources that have drifted apart end with 1',
  },
  {
    ...{
      row: '004 "change oc adm release new to explicitly scrape',
      does: 'leaves the version as the installer has it',
    },
    ...{ file: 'coreos/releases/operator-manifests.ts', test: 'test/cli/release.test.ts' },
    ...{ from: 'text.replaceAll(SNAPSHOT, version)', to: 'text' },
    title: 'takes the manifests of components as oc adm release new does: the boot images of the installer',
  },
  {
    ...{ row: '001 the same, in an environment whose mirror registry', does: 'asks no mirror' },
    ...{ file: 'registry/mirrors/mirrors.ts', test: 'test/cli/release-in-registry.test.ts' },
    ...{ from: '...mirrors.map(({ place }) => at(place)), ', to: '' },
    title: 'is pulled through mirrors, with the credentials of an auth file, while its registry is unreachable',
  },
  {
    ...{ ...VERSIONS, row: '003 "the version will change to something', does: 'does not know the new form' },
    ...{ from: '${DATE}[-.](\\\\d+)$`)', to: '${DATE}[-](\\\\d+)$`)' },
    title: 'row 29: versions of all four forms',
  },
  {
    ...{ ...VERSIONS, row: '003 versions of before and after', does: 'takes the new numbers for older ones' },
    ...{ from: "return one.form === 'openshift' ? -1 : 1", to: "return one.form === 'openshift' ? 1 : -1" },
    title: 'in their order: %s',
  },
  {
    ...{ row: '003 "a new container image called', does: 'compares no digest of the container' },
    ...{ file: 'coreos/machine-os/build-match.ts', test: 'coreos/machine-os/machine-os.test.ts' },
    ...{ from: 'if (digests.length > 0 && !digests.includes(container.Digest))', to: 'if (digests.length > 9)' },
    title: 'row 4: disk images and container of one build',
  },
  {
    ...{ ...CONVERT, row: '004 "directly go from the existing', does: 'leaves the signature out' },
    ...{ from: 'signatures ? `${folder}/${path}.sig`', to: 'signatures ? `${folder}/${path}.asc`' },
    title: 'row 35: meta.json becomes release.json becomes a stream',
  },
  {
    ...{ ...CONVERT, row: '004 "stream metadata contains multiple', does: 'puts every architecture at one place' },
    ...{ from: '/builds/${build.buildid}/${architecture}`', to: '/builds/${build.buildid}/x86_64`' },
    title: 'every architecture has its place in the release, with location, signature and digests',
  },
  {
    ...{ ...SHELF, row: '004 a bump goes forward', does: 'publishes a stream of before' },
    ...{
      from: 'compareVersions(release, before) < 0',
      to: 'compareVersions(release, before) < -99 ',
    },
    ...{ test: 'test/cli/stream.test.ts', title: 'a stream that goes back in time' },
  },
  {
    ...{ ...SHELF, row: '004 "versioned stream metadata', does: 'dates the copies by the month' },
    ...{ from: 'time.slice(0, 8), time', to: 'time.slice(0, 6), time' },
    title: 'each publication stays, and the link points to the last one',
  },
  {
    ...{ ...SHELF, row: '004 "openshift-install has a pinned copy', does: 'takes a changed copy' },
    ...{ from: 'pin.sha256 !== undefined && pin.sha256 !== sha256', to: "pin.sha256 === 'never'" },
    title: 'a pinned stream is found by its date, and verified by its digest',
  },
  {
    ...{ row: '004 "the installer uploads it as a configmap', does: 'is in another namespace' },
    ...{ file: 'coreos/metadata/config-map.ts', test: 'coreos/metadata/config-map.test.ts' },
    ...{ from: "namespace: 'openshift-machine-config-operator'", to: "namespace: 'openshift'" },
    title: 'has its name, its annotations and both keys with JSON in them',
  },
  {
    ...{ row: '004 "bootimages in two places', does: 'sees no difference' },
    ...{ file: 'coreos/metadata/stream-diff.ts', test: 'test/cli/stream.test.ts' },
    ...{ from: '.filter((path) => one.get(path) !== other.get(path))', to: '.filter((path) => !one.has(path))' },
    title: 'two copies that have drifted apart',
  },
  {
    ...{ row: '004 "an initially-manual flow', does: 'takes files over http' },
    ...{ file: 'coreos/metadata/stream-check.ts', test: 'test/cli/stream.test.ts' },
    ...{ from: '...(insecure ? [] : protocols(placed)),', to: '' },
    title: 'all that is wrong is said, and the exit code is 1',
  },
]
