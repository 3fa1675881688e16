import type { Content } from '#contracts';
import { decodeText, resolveFile, imageType, readWorkspaceFile, tooLarge } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import { fileFormOf, type FullFileForm, OWN_FILES } from './file-form.js';
import { isNotebook, notebookText, parseNotebook } from '../notebook.js';
import { type LinesData, showText } from './lines.js';
import { isPdf, type PdfReader } from './pdf-reader.js';
import { isWholeImage } from './whole-image.js';

export interface ReadRequest {
  readonly path: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly line_numbers?: boolean | undefined;
  readonly raw?: boolean | undefined;
}

export interface ReadFile {
  readonly content: Content;
  readonly details: Readonly<Record<string, unknown>>;
  readonly data?: LinesData;
}

interface OpenFile {
  readonly bytes: Buffer;
  readonly path: string;
  readonly form: FullFileForm;
}

/** Reads one file: an image, or the text of a text file, PDF file or notebook. Rejects with a ToolError. */
export async function readFile(request: ReadRequest, pdf: PdfReader, ctx: ToolContext): Promise<ReadFile> {
  const { form, ...file } = await openFile(request.path, ctx);
  const mimeType = imageType(file.bytes);
  if (mimeType !== undefined) return image(file, mimeType, form);
  const text = await textOf({ ...file, form }, request, pdf, ctx);
  const shown = showText(text, file.path, { ...request, cut: form.cut }, ctx);
  return { content: { type: 'text', text: shown.text }, details: shown.details, data: shown.data };
}

/** Reads one file that must be an image. Rejects with a ToolError. */
export async function readImage(path: string, ctx: ToolContext): Promise<ReadFile> {
  const { form, ...file } = await openFile(path, ctx);
  const mimeType = imageType(file.bytes);
  if (mimeType !== undefined) return image(file, mimeType, form);
  throw new ToolError('tool_failed', `Cannot read ${file.path} as an image: it is none of jpg, png, gif, webp and bmp.`);
}

async function openFile(given: string, ctx: ToolContext): Promise<OpenFile> {
  const place = resolveFile(ctx.workspace, given, 'read');
  const { bytes } = await readWorkspaceFile(place, OWN_FILES.image, ctx.signal);
  return { bytes, path: place.path.displayPath, form: fileFormOf(ctx) };
}

function image({ bytes, path }: Omit<OpenFile, 'form'>, mimeType: string, form: FullFileForm): ReadFile {
  if (bytes.length > form.image.bytes) throw tooLarge(path, bytes.length, form.image);
  if (!isWholeImage(bytes, mimeType))
    throw new ToolError('tool_failed', `Cannot read ${path} as an image: it is damaged, or its end is missing. Make or fetch it again.`);
  return { content: { type: 'image', data: bytes.toString('base64'), mimeType }, details: { path, bytes: bytes.length, mimeType } };
}

async function textOf({ bytes, path, form }: OpenFile, request: ReadRequest, pdf: PdfReader, ctx: ToolContext): Promise<string> {
  if (isPdf(bytes)) return pdf.read(bytes, path, ctx.signal);
  const inPart = request.offset !== undefined || request.limit !== undefined;
  const most = inPart ? form.text : (form.whole ?? form.text);
  if (bytes.length > most.bytes) throw tooLarge(path, bytes.length, most);
  const text = decodeText(bytes, path);
  return isNotebook(path) && request.raw !== true ? notebookText(parseNotebook(text, path)) : text;
}
