export const RECORDED: string;
