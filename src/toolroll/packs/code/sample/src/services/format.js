/** "1 cup", "2 cups". */
export const formatCups = (cups) => `${cups} ${cups === 1 ? "cup" : "cups"}`;
