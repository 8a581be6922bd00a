/**
 * True if user data is meant for cloud-init: one of its leading markers (`#cloud-config`, `#!`, `#include`,
 * `#cloud-boothook`, `#part-handler`, `## template: jinja`) or a MIME multi-part archive.
 */
export function looksLikeCloudConfig(text: string): boolean {
  const start = text.trimStart().slice(0, 200)
  return /^(#cloud-|#!|#include|#part-handler|#upstart-job|## template:|Content-Type: multipart\/|MIME-Version:)/i.test(
    start,
  )
}
