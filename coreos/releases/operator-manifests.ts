import { parseReference, type Images } from '../../base/registry/index.js'
import { literalPattern, UserError } from '../../base/runtime/index.js'
import { pullspecsOf, IMAGE_REFERENCES } from './image-references.js'
import type { NamedManifest } from './make-release.js'

/** Label of images whose manifests become part of a release. */
const OPERATOR = 'io.openshift.release.operator'
/** Version in manifests that stands for that of the release. */
const SNAPSHOT = '0.0.1-snapshot'

/**
 * Takes the manifests out of the image of a component, as `oc adm release new` does: `/manifests/`, in which the version and
 * the images of `image-references` are replaced. So the boot images of the installer come into a release.
 *
 * @param components pullspecs of the release by name
 * @throws UserError `release-write`, and as `Images.open` does
 */
export async function operatorManifests(
  images: Images,
  { name, pullspec }: { name: string; pullspec: string },
  { version, components }: { version: string; components: ReadonlyMap<string, string> },
): Promise<NamedManifest[]> {
  const image = await (await images.open({ kind: 'registry', ...parseReference(pullspec) })).image()
  const wrong = (what: string, remedy: string) => new UserError('release-write', what, { remedy, kind: 'usage' })
  if (image.labels[OPERATOR] !== 'true')
    throw wrong(
      `${pullspec} brings no manifests: it has no label ${OPERATOR}=true`,
      `give it as --component ${name}=...`,
    )
  const files = new Map(
    [...(await images.files(image, { folders: ['manifests'] }))].map(([path, bytes]) => [
      path.slice('manifests/'.length),
      bytes.toString(),
    ]),
  )
  const references = files.get('image-references')
  files.delete('image-references')
  const replaced = new Map<string, string>()
  if (references !== undefined)
    for (const [component, placeholder] of pullspecsOf(
      IMAGE_REFERENCES.read(references, `manifests/image-references of ${image.name}`),
    )) {
      const found = components.get(component)
      if (found === undefined)
        throw wrong(
          `the manifests of ${name} name the component ${component}, which the release does not have`,
          `add --component ${component}=PULLSPEC`,
        )
      replaced.set(placeholder, found)
    }
  return [...files]
    .filter(([file]) => /\.(ya?ml|json)$/.test(file))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([file, text]) => ({
      // Only a few components take part in the order of all; the others come behind those.
      name: file.startsWith('0000_') ? file : `0000_50_${name}_${file}`,
      text: [...replaced].reduce((sum, [from, to]) => withImage(sum, from, to), text.replaceAll(SNAPSHOT, version)),
    }))
}

/** A name of an image ends where no more of one can follow. */
function withImage(text: string, from: string, to: string): string {
  const exact = new RegExp(`(?<![\\w./:@-])${literalPattern(from)}(?![\\w./:@-])`, 'g')
  return text.replace(exact, () => to)
}
