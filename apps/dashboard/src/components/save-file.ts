/** Hands a file to the person, as a download of the browser does. */
export function saveFile(content: Blob | Uint8Array | string, name: string, type: string): void {
  const part = content instanceof Uint8Array ? new Uint8Array(content) : content;
  const url = URL.createObjectURL(new Blob([part], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
