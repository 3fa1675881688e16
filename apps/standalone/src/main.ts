console.log("standalone");
